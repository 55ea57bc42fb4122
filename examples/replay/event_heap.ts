/** A binary heap of pending events, the earliest first; events of one instant leave in the order they came in. */
export class EventHeap<T> {
  readonly #events: Event<T>[] = [];
  #pushed = 0;

  /** How many events are pending. */
  get size(): number {
    return this.#events.length;
  }

  /** The instant of the next event, in ticks; Infinity when there is none. */
  get nextTicks(): number {
    return this.#events[0]?.ticks ?? Infinity;
  }

  /** Adds an event. Costs O(log n). */
  push(ticks: number, value: T): void {
    const event = { ticks, order: this.#pushed++, value };
    const events = this.#events;
    let index = events.length;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = events[parentIndex];
      if (parent === undefined || isBefore(parent, event)) break;
      events[index] = parent;
      index = parentIndex;
    }
    events[index] = event;
  }

  /** Takes the next event out, null when there is none. Costs O(log n). */
  pop(): T | null {
    const first = this.#events[0];
    const last = this.#events.pop();
    if (first === undefined || last === undefined) return null;
    if (this.#events.length > 0) this.#sink(last);
    return first.value;
  }

  #sink(event: Event<T>): void {
    const events = this.#events;
    let index = 0;
    while (true) {
      let childIndex = 2 * index + 1;
      let child = events[childIndex];
      const right = events[childIndex + 1];
      if (child !== undefined && right !== undefined && isBefore(right, child)) {
        child = right;
        childIndex += 1;
      }
      if (child === undefined || isBefore(event, child)) break;
      events[index] = child;
      index = childIndex;
    }
    events[index] = event;
  }
}

interface Event<T> {
  readonly ticks: number;
  readonly order: number;
  readonly value: T;
}

function isBefore<T>(a: Event<T>, b: Event<T>): boolean {
  return a.ticks < b.ticks || (a.ticks === b.ticks && a.order < b.order);
}
