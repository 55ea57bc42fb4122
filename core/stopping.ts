/** Whoever is on the way to an Admission and stands in no line yet, or not again, and wants to hear that it was stopped. */
export class Stopping {
  #refuse: (() => void) | null = null;
  readonly #hearers = new Set<() => void>();

  /** Tells everybody. `refuse` throws what callers get from now on. */
  stop(refuse: () => void): void {
    this.#refuse = refuse;
    const hearers = [...this.#hearers];
    this.#hearers.clear();
    for (const hear of hearers) hear();
  }

  /** @throws what callers get, an error for each, once the Admission was stopped. */
  check(): void {
    this.#refuse?.();
  }

  /** Follows a promise until the Admission is stopped: then it rejects as its callers do, whatever becomes of the promise. */
  async follow<R>(promise: PromiseLike<R>): Promise<R> {
    let hear = () => {};
    try {
      return await new Promise<R>((resolve, reject) => {
        promise.then(resolve, reject);
        hear = () => {
          try {
            this.check();
          } catch (error) {
            reject(error);
          }
        };
        if (this.#refuse === null) this.#hearers.add(hear);
        else hear();
      });
    } finally {
      this.#hearers.delete(hear);
    }
  }
}

const known = new WeakMap<object, Stopping>();

/** The one of an Admission. */
export function stoppingOf(admission: object): Stopping {
  const stopping = known.get(admission) ?? new Stopping();
  known.set(admission, stopping);
  return stopping;
}
