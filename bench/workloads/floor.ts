import { emptyKernelCall } from "../border.ts";
import { nsEach } from "../timing.ts";
import { NO_SIZE, type Run, type Workload } from "../workload.ts";

/** What nothing can be cheaper than. */
export const floor: Workload = {
  name: "floor",
  question: "What is the floor under every figure?",
  method:
    "A bare `await` of a resolved promise, one reading of the clock, one call into the kernel that does nothing.",
  units: { cost: "ns" },
  sizes: NO_SIZE,
  contenders: {
    "bare await": awaiting,
    "clock reading": readingTheClock,
    "empty kernel call": callingTheKernel,
  },
};

/** Keeps what a loop computes, so that no engine may leave the loop out. */
let kept = 0;

async function awaiting(effort: Parameters<Run>[0]): Promise<{ cost: number }> {
  const cost = await nsEach(async (count) => {
    for (let i = 0; i < count; i++) kept += await Promise.resolve(i);
  }, effort);
  return { cost };
}

async function readingTheClock(effort: Parameters<Run>[0]): Promise<{ cost: number }> {
  const cost = await nsEach((count) => {
    for (let i = 0; i < count; i++) kept += performance.now();
  }, effort);
  return { cost };
}

async function callingTheKernel(effort: Parameters<Run>[0]): Promise<{ cost: number }> {
  const call = emptyKernelCall();
  const cost = await nsEach((count) => {
    for (let i = 0; i < count; i++) kept += call();
  }, effort);
  return { cost };
}
