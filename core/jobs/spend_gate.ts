import type { JobContext } from "../context.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import type { Cost } from "./cost.ts";
import { JobSpend } from "./job_spend.ts";

/** Decides whether a job may spend what its calls of models may cost, before it waits for anything. */
export interface SpendGate {
  /**
   * Asked once for each attempt of a job that calls models, with all its bindings resolved and priced and nothing held. It refuses
   * by throwing, or rejecting with, a SpendCapError (or any other error); that job alone fails then. Until the job's end no other
   * job with the id of this context is asked about.
   */
  check(context: JobContext, bindings: readonly ModelBinding[]): void | PromiseLike<void>;
  /**
   * Told once when a job has ended, well or badly, also when it was never asked about it. `spent` has one cost for each currency,
   * in the order of first use, and is empty when nothing was spent. What it throws is logged; nobody waits for a promise.
   */
  onFinished?(context: JobContext, spent: readonly Cost[]): unknown;
}

/** What the registry of gates may be given. */
export interface SpendGatesOptions {
  /** Hears of a gate that fails when it is told of a job's end; silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<SpendGatesOptions> = { logger: true };

/** The spend gates of a program, in the order registered. None ever leaves; one that is registered twice is asked twice. */
export class SpendGates {
  readonly #gates: SpendGate[] = [];
  readonly #logger: Logger;

  /** A registry without gates. @throws TypeError when the logger lacks a level. */
  constructor(options: SpendGatesOptions = {}) {
    checkOptionNames("Cannot make SpendGates:", options, OPTIONS);
    this.#logger = safeLogger(options.logger);
  }

  /** Adds a gate behind the others, for every attempt from now on. Answers this registry. @throws TypeError when it is none. */
  register(gate: SpendGate): this {
    if (typeof gate?.check !== "function") {
      throw new TypeError(
        `Cannot register a spend gate: it is ${show(gate)}, it should be an object with check()`,
      );
    }
    this.#gates.push(gate);
    return this;
  }

  /**
   * Opens the books of one job: whoever runs the job consults the gates through them, and says when it has ended.
   *
   * @throws TypeError when the context has no id.
   */
  open(context: JobContext): JobSpend {
    if (typeof context?.id !== "string") {
      throw new TypeError(
        `Cannot open the spending of a job: context is ${show(context)}, it should be a JobContext`,
      );
    }
    return new JobSpend(context, this.#gates, this.#logger);
  }
}
