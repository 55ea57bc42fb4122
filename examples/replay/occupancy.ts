/** How many there were of several things, over one stretch of time. */
export interface Stretch {
  readonly fromTicks: number;
  readonly toTicks: number;
  /** One count per channel, the same array in every call. */
  readonly counts: readonly number[];
}

/**
 * Counts how many intervals cover each moment, per channel, and walks over the result in order of time. What begins and
 * ends at one instant is settled before the next stretch is shown, so every stretch is longer than zero.
 */
export class Occupancy {
  readonly #begins: readonly number[][];
  readonly #ends: readonly number[][];

  /** @param channelCount how many kinds of intervals there are */
  constructor(channelCount: number) {
    this.#begins = Array.from({ length: channelCount }, () => []);
    this.#ends = Array.from({ length: channelCount }, () => []);
  }

  /** Adds one to a channel from an instant up to, but not including, another. */
  add(channel: number, fromTicks: number, toTicks: number): void {
    if (fromTicks >= toTicks) return;
    this.#begins[channel]?.push(fromTicks);
    this.#ends[channel]?.push(toTicks);
  }

  /** Shows every stretch from instant 0 on in which the counts stand still. Costs O(n log n), and no object per interval. */
  walk(visit: (stretch: Stretch) => void): void {
    const begins = this.#begins.map((ticks) => new SortedTicks(ticks));
    const ends = this.#ends.map((ticks) => new SortedTicks(ticks));
    const all = [...begins, ...ends];
    const counts = begins.map(() => 0);
    let fromTicks = 0;
    while (true) {
      const toTicks = all.reduce((least, ticks) => Math.min(least, ticks.next), Infinity);
      if (toTicks === Infinity) return;
      if (toTicks > fromTicks) visit({ fromTicks, toTicks, counts });
      fromTicks = toTicks;
      counts.forEach((count, channel) => {
        const begun = begins[channel]?.countUpTo(toTicks) ?? 0;
        const ended = ends[channel]?.countUpTo(toTicks) ?? 0;
        counts[channel] = count + begun - ended;
      });
    }
  }
}

/** Instants in order, read from the front. */
class SortedTicks {
  readonly #ticks: Float64Array;
  #index = 0;

  constructor(ticks: readonly number[]) {
    this.#ticks = Float64Array.from(ticks).sort();
  }

  /** The next instant, Infinity after the last. */
  get next(): number {
    return this.#ticks[this.#index] ?? Infinity;
  }

  /** Reads all instants up to and including one; gives their number. */
  countUpTo(ticks: number): number {
    const from = this.#index;
    while (this.next <= ticks) this.#index += 1;
    return this.#index - from;
  }
}
