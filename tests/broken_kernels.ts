// A kernel that breaks while a test uses it.

import { KernelHost, useHost } from "../core/host.ts";
import { wasmKernel } from "../core/kernel.ts";
import { World } from "./scenario.ts";

/** Plays on a fresh kernel; `breakIt` overwrites its memory, as a defect in it would. */
export async function onBrokenKernel(
  play: (world: World, breakIt: () => void) => Promise<void>,
): Promise<void> {
  const kernel = wasmKernel();
  useHost(new KernelHost(kernel));
  try {
    await play(new World(), () => void new Uint8Array(kernel.memory.buffer).fill(0xff));
  } finally {
    useHost(null);
  }
}
