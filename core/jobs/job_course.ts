import { isProviderFault } from "../database/provider_faults.ts";
import { UncorrectableError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import type { JobPart } from "./job_timeout_error.ts";

/** Unwinds an attempt whose time was up: whoever cut it off ends its resources and says how it ended. */
const CUT_OFF = new Error("The attempt was cut off");

/** Where an attempt stands, and what went wrong while it was cleaned up. */
export class JobCourse {
  readonly #jobId: string;
  readonly #logger: Logger;
  readonly #faults: unknown[] = [];
  #part: JobPart = "acquire";
  #provider: string | null = null;
  #isCutOff = false;

  constructor(jobId: string, logger: Logger) {
    this.#jobId = jobId;
    this.#logger = logger;
  }

  /** What it is at. */
  get part(): JobPart {
    return this.#part;
  }

  /** The provider that it is at, or null. */
  get provider(): string | null {
    return this.#provider;
  }

  /** Whether its time was up: from then on the attempt does nothing more by itself. */
  get isCutOff(): boolean {
    return this.#isCutOff;
  }

  /** In the order in which they came. */
  get faults(): readonly unknown[] {
    return this.#faults;
  }

  /** Its time is up. */
  cutOff(): void {
    this.#isCutOff = true;
  }

  /** @throws when its time was up. */
  check(): void {
    if (this.#isCutOff) throw CUT_OFF;
  }

  /** Says what it is at now. */
  enter(part: JobPart, provider: string | null): void {
    this.#part = part;
    this.#provider = provider;
  }

  /** Does one part with a provider. What goes wrong is an UncorrectableError that names both, with the fault as cause. */
  async with<R>(part: JobPart, provider: string, call: () => PromiseLike<R> | R): Promise<R> {
    this.enter(part, provider);
    try {
      return await call();
    } catch (fault) {
      throw partFailed(part, provider, fault);
    }
  }

  /** Keeps a fault that must not stop the cleaning up, and tells the logger. */
  note(fault: unknown): void {
    this.#faults.push(fault);
    this.#logger.error(`Job ${show(this.#jobId)} could not be cleaned up whole: ${messageOf(fault)}`);
  }
}

/** A part that failed on a provider. What the provider said is not said again. */
export function partFailed(part: JobPart | "abort", provider: string, fault: unknown): UncorrectableError {
  if (!isProviderFault(fault)) {
    const message = `Cannot ${part} on provider ${show(provider)}: ${messageOf(fault)}`;
    return new UncorrectableError(message, { cause: fault });
  }
  return fault instanceof UncorrectableError
    ? fault
    : new UncorrectableError(fault.message, { cause: fault });
}
