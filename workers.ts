/**
 * Everything of the main entry, for runtimes that forbid compiling WebAssembly while a request is handled: hand the compiled
 * kernel to `setKernelModule` at the top of your module.
 *
 * @module
 */
export * from "./mod.ts";
export { injectModule as setKernelModule } from "./core/kernel.ts";
