const DUE: Promise<void> = Promise.resolve();

/** A permit of the ruled semaphore. It is given back once; later releases do nothing. */
export class RuledPermit {
  /** From the call to the grant, in ms. */
  readonly waitedMs: number;
  readonly #semaphore: RuledSemaphore;
  #isSettled = false;

  constructor(semaphore: RuledSemaphore, waitedMs: number) {
    this.#semaphore = semaphore;
    this.waitedMs = waitedMs;
  }

  release(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#semaphore.giveBack();
  }
}

class Caller {
  readonly arrivedMs: number = performance.now();
  readonly #semaphore: RuledSemaphore;
  readonly #signal: AbortSignal | null;
  previous: Caller | null = null;
  next: Caller | null = null;
  #resolve: (permit: RuledPermit) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  readonly promise: Promise<RuledPermit>;

  constructor(semaphore: RuledSemaphore, signal: AbortSignal | null) {
    this.#semaphore = semaphore;
    this.#signal = signal;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      if (signal !== null) this.#reject = reject;
    });
    signal?.addEventListener("abort", this);
  }

  handleEvent(): void {
    this.#semaphore.leave(this);
    this.#signal!.removeEventListener("abort", this);
    this.#reject(this.#signal!.reason);
  }

  succeed(permit: RuledPermit): void {
    this.#signal?.removeEventListener("abort", this);
    this.#resolve(permit);
  }
}

/**
 * What our rules ask of one gate, and nothing else: a line in order of arrival, places handed over by a pass in a microtask of
 * its own and not on the stack of a release, one reading of the clock for an arrival and one for a pass, permits that count
 * once. It knows one account of one kind, and no kernel: what it costs is the price of the rules.
 */
export class RuledSemaphore {
  inUse = 0;
  readonly #capacity: number;
  #first: Caller | null = null;
  #last: Caller | null = null;
  #isPassDue = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  tryAcquire(): RuledPermit | null {
    if (this.#first !== null || this.inUse >= this.#capacity) return null;
    this.inUse++;
    return new RuledPermit(this, 0);
  }

  acquire(signal: AbortSignal | null = null): Promise<RuledPermit> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const permit = this.tryAcquire();
    if (permit !== null) return Promise.resolve(permit);
    const caller = new Caller(this, signal);
    caller.previous = this.#last;
    if (this.#last === null) this.#first = caller;
    else this.#last.next = caller;
    this.#last = caller;
    return caller.promise;
  }

  giveBack(): void {
    this.inUse--;
    if (this.#isPassDue || this.#first === null) return;
    this.#isPassDue = true;
    DUE.then(this.#pass);
  }

  leave(caller: Caller): void {
    const { previous, next } = caller;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
  }

  readonly #pass = (): void => {
    this.#isPassDue = false;
    const nowMs = performance.now();
    for (let first = this.#first; first !== null && this.inUse < this.#capacity; first = this.#first) {
      this.inUse++;
      this.leave(first);
      first.succeed(new RuledPermit(this, nowMs - first.arrivedMs));
    }
  };
}
