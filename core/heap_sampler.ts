import type { HeapReader, HeapReading } from "./heap.ts";
import { show } from "./invariant.ts";

/** A reading as a gate goes by it. */
export interface HeapSample extends HeapReading {
  /** Used over limit; 0 when the limit is not positive, NaN when there is no reading. */
  readonly ratio: number;
}

const NOTHING: HeapSample = Object.freeze({ usedBytes: 0, limitBytes: 0, ratio: NaN });

/** A sample and when it was taken. */
interface Kept {
  sample: HeapSample;
  atTicks: number;
}

/**
 * Keeps the heap from being read for every job: a sample serves for a few milliseconds. Observers have one of their own, so
 * that looking at a status changes no decision.
 */
export class HeapSampler {
  readonly #reader: HeapReader | null;
  readonly #everyTicks: number;
  #decided: Kept = { sample: NOTHING, atTicks: -Infinity };
  #observed: Kept = { sample: NOTHING, atTicks: -Infinity };
  #fault: unknown = undefined;
  #hasFailed = false;

  /** @param everyTicks how long a sample serves; with 0 each is read afresh. */
  constructor(reader: HeapReader | null, everyTicks: number) {
    this.#reader = reader;
    this.#everyTicks = everyTicks;
  }

  /** What to decide by at this instant. */
  sample(nowTicks: number): HeapSample {
    return this.#renewed(this.#decided, nowTicks);
  }

  /** The ratio to decide by where no reading is needed for it, else null. */
  kept(nowTicks: number): number | null {
    return this.#serves(this.#decided, nowTicks) ? this.last.ratio : null;
  }

  /** What the last decision went by. */
  get last(): HeapSample {
    return this.#decided.sample;
  }

  /** What to show at this instant. */
  peek(nowTicks: number): HeapSample {
    return this.#serves(this.#decided, nowTicks) ? this.last : this.#renewed(this.#observed, nowTicks);
  }

  /** Runs `tell` with the first fault of the reader, once. */
  tellFault(tell: (fault: unknown) => void): void {
    if (this.#fault === undefined) return;
    const fault = this.#fault;
    this.#fault = undefined;
    tell(fault);
  }

  #serves({ atTicks }: Kept, nowTicks: number): boolean {
    // A clock that steps back makes a sample no better.
    return nowTicks >= atTicks && nowTicks - atTicks < this.#everyTicks;
  }

  #renewed(kept: Kept, nowTicks: number): HeapSample {
    if (!this.#serves(kept, nowTicks)) {
      kept.sample = this.#read();
      kept.atTicks = nowTicks;
    }
    return kept.sample;
  }

  #read(): HeapSample {
    if (this.#reader === null) return NOTHING;
    try {
      return checkedSample(this.#reader());
    } catch (fault) {
      if (!this.#hasFailed) this.#fault = fault ?? new Error(`the heap reader threw ${show(fault)}`);
      this.#hasFailed = true;
      return NOTHING;
    }
  }
}

function checkedSample({ usedBytes, limitBytes, ratio }: HeapReading): HeapSample {
  const checked = ratio ?? (limitBytes > 0 ? usedBytes / limitBytes : 0);
  if (!(Number.isFinite(checked) && checked >= 0)) {
    throw new RangeError(`the heap reader answered ${show(checked)}, it should be a finite number from 0`);
  }
  return { usedBytes, limitBytes, ratio: checked };
}
