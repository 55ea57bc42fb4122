// The compiled kernel as the packed library gives it to a Worker: @sluice/admission/kernel.wasm.

declare const module: WebAssembly.Module;
export default module;
