/** A permit of the plain semaphore. */
export interface PlainPermit {
  semaphore: PlainSemaphore;
}

interface Caller {
  resolve: (permit: PlainPermit) => void;
  next: Caller | null;
}

/** The least that a semaphore can be: what the bench holds Sluice against. One counter, a list of callers, no fairness rules. */
export class PlainSemaphore {
  inUse = 0;
  #first: Caller | null = null;
  #last: Caller | null = null;

  constructor(readonly capacity: number) {}

  tryAcquire(): PlainPermit | null {
    if (this.inUse >= this.capacity) return null;
    this.inUse++;
    return { semaphore: this };
  }

  acquire(): Promise<PlainPermit> {
    const permit = this.tryAcquire();
    if (permit !== null) return Promise.resolve(permit);
    return new Promise((resolve) => this.#append({ resolve, next: null }));
  }

  release(_permit: PlainPermit): void {
    const first = this.#first;
    if (first === null) {
      this.inUse--;
      return;
    }
    this.#first = first.next;
    if (first.next === null) this.#last = null;
    first.resolve({ semaphore: this });
  }

  #append(caller: Caller): void {
    if (this.#last === null) this.#first = caller;
    else this.#last.next = caller;
    this.#last = caller;
  }
}
