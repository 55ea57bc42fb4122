/** One connection while a handle has it: its marks, the latch of its transaction, and the turns of its verbs. */
export class HeldConnection<C> {
  readonly connection: C;
  /** From before the driver is asked to begin until it has committed or rolled back. */
  mayBeInTransaction = false;
  /** Set before a close is attempted. */
  isClosed = false;
  /** Set before the connection is severed. */
  isAborted = false;
  /** Set before the pool gets the connection: from then on it may be another job's. */
  isHandedBack = false;
  /** The first close, without its failure. */
  closing: Promise<void> | null = null;
  #latch: { readonly released: Promise<void>; release(): void } | null = null;
  #lastTurn: Promise<void> = Promise.resolve();
  #cutTurn: ((fault: unknown) => void) | null = null;

  constructor(connection: C) {
    this.connection = connection;
  }

  /** Whether the job may still work on it. */
  get isUsable(): boolean {
    return !this.isClosed && !this.isAborted;
  }

  /** Resolves when the latch is released; at once when there is none. */
  get completion(): Promise<void> {
    return this.#latch?.released ?? Promise.resolve();
  }

  /** A fresh latch for the transaction that begins. */
  setLatch(): void {
    let release = () => {};
    const released = new Promise<void>((resolve) => release = resolve);
    this.#latch = { released, release };
  }

  /** Lets everybody go who awaits completion. */
  releaseLatch(): void {
    this.#latch?.release();
    this.#latch = null;
  }

  /**
   * Does one piece of work after the other, so that no two are on the connection at once. When it is cut, the work that runs
   * is not waited for any longer.
   */
  inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#lastTurn.then(() =>
      new Promise<void>((resolve, reject) => {
        // One turn runs at a time, so there is one to cut. A race against a promise that lives as long as the handle would
        // keep a listener for each verb of it.
        this.#cutTurn = reject;
        work().then(resolve, reject);
      })
    );
    this.#lastTurn = turn.catch(() => {}).then(() => {
      this.#cutTurn = null;
    });
    return turn;
  }

  /** Ends the turn that runs with a fault, whatever the driver does. */
  cut(fault: unknown): void {
    this.#cutTurn?.(fault);
  }
}
