import type { LimiterStatus } from "./statuses.ts";

/** `CRITICAL` while the latch is set, else `DRAINING` while somebody is in memory's own line, else `GREEN`. */
export type MemoryZone = "GREEN" | "DRAINING" | "CRITICAL";

const GIGABYTE = 2 ** 30;

/** A memory gate at one moment, as a look at the heap would find it. */
export class MemoryPressureStatus implements LimiterStatus {
  /** The heap in use, in bytes; with a `reader` of your own in its unit; 0 when unknown. */
  readonly heapUsedBytes: number;
  /** The heap's limit, in the same unit; 0 when unknown. */
  readonly heapMaxBytes: number;
  /** Used over max, 0 when unknown. */
  readonly usageRatio: number;
  /** The heap after the last collection that was seen, over its limit. */
  readonly floorRatio: number;
  /** Whether somebody is let through at once, one at a time, or not at all. */
  readonly zone: MemoryZone;
  /** Waiters in memory's own line, over all Admissions. */
  readonly heldOnMemory: number;
  /** Whole ms until the next one may go by the clock; 0 when nothing keeps it, or a finished job lets it go. */
  readonly pacingDelayMillis: number;
  /** How much longer than nominal the delays are because the floor grows: 1 to 72,000. */
  readonly growthPenalty: number;

  /** For memory accounts of your own: the fields in their order, taken as they are. Frozen. */
  constructor(
    heapUsedBytes: number,
    heapMaxBytes: number,
    usageRatio: number,
    floorRatio: number,
    zone: MemoryZone,
    heldOnMemory: number,
    pacingDelayMillis: number,
    growthPenalty: number,
  ) {
    this.heapUsedBytes = heapUsedBytes;
    this.heapMaxBytes = heapMaxBytes;
    this.usageRatio = usageRatio;
    this.floorRatio = floorRatio;
    this.zone = zone;
    this.heldOnMemory = heldOnMemory;
    this.pacingDelayMillis = pacingDelayMillis;
    this.growthPenalty = growthPenalty;
    Object.freeze(this);
  }

  /** One line: heap, floor, zone, line, pacing and penalty. */
  summary(): string {
    const heap = `heap ${percent(this.usageRatio)} (${gigabytes(this.heapUsedBytes)} of ${
      gigabytes(this.heapMaxBytes)
    })`;
    const line = `${this.heldOnMemory} in memory's line`;
    const penalty = `growth penalty x${Math.round(this.growthPenalty)}`;
    return `${heap}, floor ${
      percent(this.floorRatio)
    }, zone ${this.zone}, ${line}, pacing ${this.pacingDelayMillis}ms, ${penalty}`;
  }
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(1)}%`;
}

function gigabytes(bytes: number): string {
  return `${(bytes / GIGABYTE).toFixed(1)}G`;
}
