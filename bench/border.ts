// The one file of the bench that looks behind the public face: what a call over the border costs, and how much memory the
// kernel has.
import { kernelMemoryBytes, wasmKernel } from "../core/kernel.ts";

/** Bytes of the kernel's linear memory, which only grows. */
export function linearMemoryBytes(): number {
  return kernelMemoryBytes();
}

/** A call into a kernel that reads one number and does nothing else. */
export function emptyKernelCall(): () => number {
  const kernel = wasmKernel();
  return () => kernel.accountCount();
}
