import type { JobContext } from "../context.ts";
import { CancellationError } from "../errors.ts";
import { dropFaults } from "../logger.ts";
import { hearAbort, listenTo, type SignalListener, stopListening } from "../signals.ts";

/** Why a job should end: its caller's signal, its context or its time limit, whichever came first. */
export class JobStop implements SignalListener {
  readonly #outer: AbortSignal | null;
  /** A few for each attempt: they stay until the job ends. */
  readonly #hearers: (() => void)[] = [];
  #forgetContext: (() => void) | null = null;
  #own: AbortController | null = null;
  #isStopped = false;
  #reason: unknown = undefined;

  /** Listens until `dispose`. */
  constructor(signal: AbortSignal | null, context: JobContext) {
    this.#outer = signal;
    if (signal?.aborted) this.stop(signal.reason);
    else if (context.isCancelled) this.stop(cancelled());
    else this.#listen(signal, context);
  }

  /** For the job's own requests: aborts with the reason. Made when it is first asked for. */
  get signal(): AbortSignal {
    if (this.#own === null) {
      this.#own = new AbortController();
      if (this.#isStopped) this.#own.abort(this.#reason);
    }
    return this.#own.signal;
  }

  /** @throws the reason, when there is one. */
  check(): void {
    if (this.#isStopped) throw this.#reason;
  }

  /** The job should end for that reason, unless there was one before. */
  stop(reason: unknown): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#reason = reason;
    for (const hear of this.#hearers) hear();
    this.#own?.abort(reason);
  }

  /** Follows a promise until the job should end: then it rejects with the reason, whatever becomes of the promise. */
  follow<R>(promise: PromiseLike<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      if (this.#isStopped) reject(this.#reason);
      else this.#hearers.push(() => reject(this.#reason));
    });
  }

  /** The outer signal tells it, or whoever listens first for all that share it. */
  handleEvent(): void {
    hearAbort(this.#outer!, this);
  }

  /** The outer signal aborted. */
  leave(reason: unknown): void {
    this.stop(reason);
  }

  /** Leaves no listener behind. */
  dispose(): void {
    const forget = this.#forgetContext;
    this.#forgetContext = null;
    if (forget !== null) dropFaults(forget);
    if (this.#outer !== null) stopListening(this.#outer, this);
  }

  #listen(signal: AbortSignal | null, context: JobContext): void {
    this.#forgetContext = context.onCancel(() => this.stop(cancelled())) ?? null;
    try {
      if (signal !== null) listenTo(signal, this);
    } catch (fault) {
      this.dispose();
      throw fault;
    }
  }
}

function cancelled(): CancellationError {
  return new CancellationError("cancelled", "The job was cancelled");
}
