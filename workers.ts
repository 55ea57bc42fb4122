/**
 * The library for edge workers, where WebAssembly cannot be compiled while a request is handled: hand the compiled kernel
 * to `setKernelModule` at the top of your module, before the first account or Admission is used.
 *
 * @module
 */
export * from "./mod.ts";
