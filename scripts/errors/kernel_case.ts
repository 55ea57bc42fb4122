import { thrownBy } from "./case.ts";

/**
 * What a handler of Workers meets that uses the library without `setKernelModule`: in a copy of the module that has compiled
 * nothing yet, under the runtime's own words.
 */
export async function compileInHandler(): Promise<unknown> {
  // The one look past mod.ts: a process compiles once, so it cannot meet this error after any other. A path, because Bun takes
  // a URL with and without a query for the same module.
  const copy: string = "../../core/kernel.ts?uncompiled";
  const { wasmKernel } = await import(copy) as { wasmKernel: () => unknown };
  const { Module } = WebAssembly;
  const forbidden = class {
    constructor() {
      throw new WebAssembly.CompileError("WebAssembly.Module(): Wasm code generation disallowed by embedder");
    }
  };
  try {
    WebAssembly.Module = forbidden as unknown as typeof WebAssembly.Module;
    return await thrownBy(wasmKernel);
  } finally {
    WebAssembly.Module = Module;
  }
}
