import type { Waiter } from "./parking.ts";

/** The waiters of one line that have a time limit, earliest first: a binary heap that knows where each waiter stands. */
export class Timeouts {
  readonly #heap: Waiter[] = [];

  /** The earliest limit in ticks, Infinity when there is none. */
  get next(): number {
    return this.#heap[0]?.expiresAt ?? Infinity;
  }

  /** The waiter with the earliest limit. */
  get first(): Waiter | null {
    return this.#heap[0] ?? null;
  }

  /** Takes out those whose limit has come, one after the other. */
  *due(nowTicks: number): Generator<Waiter, void> {
    for (let first = this.first; first !== null && first.expiresAt <= nowTicks; first = this.first) {
      this.remove(first);
      yield first;
    }
  }

  add(waiter: Waiter): void {
    this.#heap.push(waiter);
    this.#place(waiter, this.#heap.length - 1);
    this.#siftUp(waiter);
  }

  /** Does nothing for a waiter that is not here. */
  remove(waiter: Waiter): void {
    const at = waiter.timeoutIndex;
    if (at < 0) return;
    waiter.timeoutIndex = -1;
    const last = this.#heap.pop()!;
    if (last === waiter) return;
    this.#place(last, at);
    this.#siftUp(last);
    this.#siftDown(last);
  }

  #place(waiter: Waiter, at: number): void {
    this.#heap[at] = waiter;
    waiter.timeoutIndex = at;
  }

  #siftUp(waiter: Waiter): void {
    while (waiter.timeoutIndex > 0) {
      const parent = this.#heap[(waiter.timeoutIndex - 1) >> 1]!;
      if (parent.expiresAt <= waiter.expiresAt) return;
      this.#swap(waiter, parent);
    }
  }

  #siftDown(waiter: Waiter): void {
    for (;;) {
      const left = this.#heap[2 * waiter.timeoutIndex + 1];
      const right = this.#heap[2 * waiter.timeoutIndex + 2];
      const child = right !== undefined && right.expiresAt < left!.expiresAt ? right : left;
      if (child === undefined || child.expiresAt >= waiter.expiresAt) return;
      this.#swap(child, waiter);
    }
  }

  #swap(a: Waiter, b: Waiter): void {
    const at = a.timeoutIndex;
    this.#place(a, b.timeoutIndex);
    this.#place(b, at);
  }
}
