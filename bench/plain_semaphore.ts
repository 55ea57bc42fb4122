/** A permit of the plain semaphore. */
export interface PlainPermit {
  semaphore: PlainSemaphore;
}

/** The least that a semaphore can be: what the bench holds Sluice against. One counter, a list of callers, no fairness rules. */
export class PlainSemaphore {
  inUse = 0;
  readonly #waiting: ((permit: PlainPermit) => void)[] = [];

  constructor(readonly capacity: number) {}

  tryAcquire(): PlainPermit | null {
    if (this.inUse >= this.capacity) return null;
    this.inUse++;
    return { semaphore: this };
  }

  acquire(): Promise<PlainPermit> {
    const permit = this.tryAcquire();
    if (permit !== null) return Promise.resolve(permit);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  release(_permit: PlainPermit): void {
    this.inUse--;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.inUse++;
    next({ semaphore: this });
  }
}
