import { turnWallNow } from "./clock.ts";
import type { DemandSnapshot, Entry } from "./demand.ts";
import type { Kernel } from "./kernel.ts";
import type { Monitor } from "./monitor.ts";

/** Writes the entries of a demand to where the kernel reads them. */
export function stage(kernel: Kernel, entries: readonly Entry[]): void {
  for (let i = 0; i < entries.length; i++) {
    const { limiterRecord, keyRecord, count, sum } = entries[i]!;
    kernel.stage(i, limiterRecord, keyRecord, count, sum);
  }
}

/** The inline attempt of a demand that the kernel decides alone; answers its verdict. Reads a clock only if one matters. */
export function attemptNatively(monitor: Monitor, demand: DemandSnapshot): number {
  const { host, clock, line } = monitor;
  const { kernel } = host;
  stage(kernel, demand.entries);
  kernel.setWallTime(turnWallNow(clock));
  const now = demand.clocks.length > 0 ? monitor.now() : 0;
  try {
    return kernel.attempt(line.record, demand.entries.length, now);
  } catch (error) {
    throw host.trapped(error);
  }
}
