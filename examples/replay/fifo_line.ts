/** A line of waiters, first in, first out. Both ends cost O(1), over many calls. */
export class FifoLine<T> {
  #items: T[] = [];
  #headIndex = 0;

  /** Who is next; null when nobody waits. */
  get head(): T | null {
    return this.#items[this.#headIndex] ?? null;
  }

  /** Puts someone at the end. */
  push(item: T): void {
    this.#items.push(item);
  }

  /** Takes the head out; null when nobody waits. */
  shift(): T | null {
    const head = this.head;
    if (head === null) return null;
    this.#headIndex += 1;
    if (this.#headIndex > 1_024 && this.#headIndex * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#headIndex);
      this.#headIndex = 0;
    }
    return head;
  }
}
