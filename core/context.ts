import { collect, throwAll } from "./faults.ts";
import { show } from "./invariant.ts";
import { checkOptionNames, type OptionNames } from "./option_names.ts";

/** A job as it was at one moment. Frozen; `metadata` is a shallow copy. */
export interface JobSnapshot {
  /** The context's `id`. */
  readonly id: string;
  /** Whether it was cancelled by then. */
  readonly isCancelled: boolean;
  /** What the metadata held then. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A job's identity and its cancellation. What events and statuses say about who waits comes from here. */
export interface JobContext {
  /** Names the job in events and logs, and to a ledger; no other job should have it. */
  readonly id: string;
  /** Facts of the job; the caller may write to it. */
  readonly metadata: Record<string, unknown>;
  /** Whether it was cancelled, or its time is up. Once true it stays true. */
  readonly isCancelled: boolean;
  /** Cancels the job, once; later calls do nothing. @throws what a listener threw, after all have heard (several: AggregateError). */
  cancel(reason?: unknown): void;
  /** The job's time is up: cancels it as well. */
  signalTimeout(): void;
  /** Calls `fn` once when the job is cancelled, at once when it is already. Answers a function that takes `fn` back. */
  onCancel(fn: () => void): (() => void) | void;
  /** The job as it is now. Admission takes one when `admit` is called, for its events. */
  snapshot(): JobSnapshot;
}

/** What a context may be given. */
interface JobContextOptions {
  id?: string;
  metadata?: Record<string, unknown>;
}

const OPTIONS: OptionNames<JobContextOptions> = { id: true, metadata: true };

let made = 0;

/** A context of its own: `context.cancel()` makes the parked caller leave at once. */
export function createJobContext(
  options: { id?: string; metadata?: Record<string, unknown> } = {},
): JobContext {
  checkOptionNames("Cannot make a JobContext:", options, OPTIONS);
  const callbacks = new Set<() => void>();
  let isCancelled = false;
  const cancel = () => {
    if (isCancelled) return;
    isCancelled = true;
    const waiting = [...callbacks];
    callbacks.clear();
    // One that fails keeps nobody else from hearing.
    const faults: unknown[] = [];
    for (const fn of waiting) collect(faults, fn);
    throwAll(faults, (count) => `${count} listeners failed while a job was cancelled`);
  };
  const context: JobContext = {
    id: options.id ?? `job-${++made}`,
    metadata: options.metadata ?? {},
    get isCancelled() {
      return isCancelled;
    },
    cancel,
    signalTimeout: cancel,
    onCancel(fn) {
      if (isCancelled) {
        fn();
        return;
      }
      callbacks.add(fn);
      return () => void callbacks.delete(fn);
    },
    snapshot: () =>
      Object.freeze({ id: context.id, isCancelled, metadata: Object.freeze({ ...context.metadata }) }),
  };
  return context;
}

/** @throws TypeError when an object lacks a member that admission calls. */
export function checkContext(context: JobContext): void {
  const { onCancel, snapshot, isCancelled } = (context ?? {}) as Partial<JobContext>;
  if (typeof onCancel === "function" && typeof snapshot === "function" && typeof isCancelled === "boolean") {
    return;
  }
  throw new TypeError(
    `Cannot admit: context is ${
      show(context)
    }, it should be a JobContext with isCancelled, onCancel() and snapshot()`,
  );
}
