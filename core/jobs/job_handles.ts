import type { DBManagedResource, DBResourceProvider } from "../database/db_resource_provider.ts";
import { show } from "../invariant.ts";
import { type JobCourse, partFailed } from "./job_course.ts";
import type { DeclaredDatabase } from "./job_requirements.ts";
import type { JobStop } from "./job_stop.ts";

/** A handle of an attempt. It is closed once, whoever comes first; only a close that hangs is called again, after an abort. */
interface Held {
  readonly provider: DBResourceProvider<unknown>;
  readonly name: string;
  readonly handle: DBManagedResource<unknown>;
  readonly transaction: boolean;
  /** From before `begin` is called. */
  mayBeInTransaction: boolean;
  isCommitted: boolean;
  closing: "open" | "begun" | "ended";
}

/** The database handles of one attempt, in the order in which they were acquired. */
export class JobHandles {
  readonly #course: JobCourse;
  readonly #held: Held[] = [];
  #closing: Promise<void> | null = null;

  constructor(course: JobCourse) {
    this.#course = course;
  }

  /** The handle of a provider, if it has been acquired. */
  of(provider: DBResourceProvider<unknown>): DBManagedResource<unknown> | undefined {
    return this.#held.find((held) => held.provider === provider)?.handle;
  }

  /** Acquires one handle after the other, until one fails or the job should end. */
  async acquireAll(databases: readonly DeclaredDatabase[], stop: JobStop): Promise<void> {
    for (const { provider, readOnly, transaction } of databases) {
      stop.check();
      const { name } = provider;
      const handle = await this.#course.with("acquire", name, () => acquired(provider, readOnly));
      const held: Held = {
        provider,
        name,
        handle,
        transaction,
        mayBeInTransaction: false,
        isCommitted: false,
        closing: "open",
      };
      // Whoever cut the attempt off did not see this one: nobody uses it, and nobody else closes it.
      if (this.#course.isCutOff) await this.#close(held);
      this.#course.check();
      this.#held.push(held);
    }
  }

  /** Begins the transactions that were asked for. */
  async beginAll(stop: JobStop): Promise<void> {
    for (const held of this.#held) {
      if (!held.transaction) continue;
      stop.check();
      held.mayBeInTransaction = true;
      await this.#course.with("begin", held.name, () => held.provider.begin(held.handle));
      this.#course.check();
    }
  }

  /** Commits one transaction after the other, and awaits each. The first that fails ends it; what was committed before stays. */
  async commitAll(): Promise<void> {
    for (const held of this.#held) {
      const { provider, name, handle } = held;
      if (!held.mayBeInTransaction) continue;
      await this.#course.with("commit", name, () => provider.commit(handle));
      this.#course.check();
      await this.#course.with("commit", name, () => provider.awaitCompletion(handle));
      this.#course.check();
      held.isCommitted = true;
    }
  }

  /** Rolls back what is not committed, last first, whatever fails. */
  async rollbackAll(): Promise<void> {
    for (const held of this.#held.toReversed()) {
      if (!held.mayBeInTransaction || held.isCommitted) continue;
      try {
        await this.#course.with("rollback", held.name, () => held.provider.rollback(held.handle));
      } catch (fault) {
        this.#course.note(fault);
      }
      this.#course.check();
    }
  }

  /** Closes one after the other, whatever fails, in the order of acquisition or against it. Asked again, it is the same closing. */
  close(isReversed: boolean): Promise<void> {
    this.#closing ??= this.#closeEach(isReversed ? this.#held.toReversed() : this.#held);
    return this.#closing;
  }

  /** Aborts and closes each that is not closed yet. One whose abort fails is left alone: its connection may still be in use. */
  async forceClose(): Promise<void> {
    const closes: Promise<void>[] = [];
    for (const held of this.#held) {
      if (held.closing === "ended") continue;
      // A close that was stuck goes on to the next handle once it is cut: that one is ours already.
      held.closing = "begun";
      if (this.#abort(held)) closes.push(this.#closeNow(held));
    }
    await Promise.all(closes);
  }

  async #closeEach(all: readonly Held[]): Promise<void> {
    for (const held of all) await this.#close(held);
  }

  async #close(held: Held): Promise<void> {
    if (held.closing !== "open") return;
    held.closing = "begun";
    this.#course.enter("close", held.name);
    await this.#closeNow(held);
  }

  async #closeNow(held: Held): Promise<void> {
    try {
      await held.provider.close(held.handle);
    } catch (fault) {
      this.#course.note(partFailed("close", held.name, fault));
    }
    held.closing = "ended";
  }

  #abort({ provider, name, handle }: Held): boolean {
    const failed = (fault: unknown) => this.#course.note(partFailed("abort", name, fault));
    try {
      const answer: unknown = provider.abort(handle);
      // It should answer nothing. One that is async all the same must not end the process.
      Promise.resolve(answer).catch(failed);
      return true;
    } catch (fault) {
      failed(fault);
      return false;
    }
  }
}

async function acquired(
  provider: DBResourceProvider<unknown>,
  readOnly: boolean,
): Promise<DBManagedResource<unknown>> {
  const handle = await provider.acquire(readOnly);
  if (typeof handle?.unwrap === "function") return handle;
  throw new TypeError(`acquire() answered ${show(handle)}, it should be a handle with unwrap()`);
}
