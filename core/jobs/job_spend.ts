import type { JobContext } from "../context.ts";
import { InvalidStateError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import { ModelBinding } from "../models/model_binding.ts";
import { Cost } from "./cost.ts";
import { claimId, isClaimedByOther, releaseId } from "./gate_claims.ts";
import type { SpendGate } from "./spend_gate.ts";

/** What one job spends, from its first attempt to its end. Made by `SpendGates.open`. */
export class JobSpend {
  readonly #context: JobContext;
  readonly #gates: readonly SpendGate[];
  readonly #logger: Logger;
  readonly #spent = new Map<string, Cost>();
  #isFinished = false;

  /** For `SpendGates.open`. */
  constructor(context: JobContext, gates: readonly SpendGate[], logger: Logger) {
    this.#context = context;
    this.#gates = gates;
    this.#logger = logger;
  }

  /**
   * Asks every gate that is registered now, one after another, before an attempt asks for admission. Without bindings no gate is
   * asked.
   *
   * @throws (rejects) with what the first gate that refuses throws, and no later gate is asked; InvalidStateError when a binding
   * is not priced or another running job has this one's id, before any gate is asked, or when the job has ended.
   */
  async consult(bindings: readonly ModelBinding[]): Promise<void> {
    const priced = Object.freeze([...bindings]);
    for (const binding of priced) checkPriced(binding);
    if (priced.length === 0) return;
    const gates = [...this.#gates];
    this.#checkOpen("ask about");
    for (const gate of gates) claimId(gate, this.#context.id, this);
    for (const gate of gates) {
      // The job may end while a gate takes its time: what a gate sets aside after that, nobody would take back.
      this.#checkOpen("ask about");
      await gate.check(this.#context, priced);
    }
    this.#checkOpen("go on with");
  }

  /** Adds what a call cost; null, for a model without prices, adds nothing. @throws TypeError, or InvalidStateError after the end. */
  record(cost: Cost | null): void {
    this.#checkOpen("record a cost of");
    if (cost === null) return;
    if (!(cost instanceof Cost)) {
      throw new TypeError(`Cannot record a cost: it is ${show(cost)}, it should be a Cost or null`);
    }
    this.#spent.set(cost.currency, this.#spent.get(cost.currency)?.plus(cost) ?? cost);
  }

  /**
   * The job has ended, well or badly: tells every gate once, whatever others do, but none that knows another running job by this id
   * and would take it for the one that ended. A second call does nothing.
   */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    const { id } = this.#context;
    const spent = Object.freeze([...this.#spent.values()]);
    for (const gate of new Set(this.#gates)) {
      if (isClaimedByOther(gate, id, this)) this.#logUntold(spent);
      else {
        releaseId(gate, id);
        this.#tell(gate, spent);
      }
    }
  }

  #logUntold(spent: readonly Cost[]): void {
    if (spent.length === 0) return;
    this.#logger.error(
      `A spend gate was not told that a job spent ${spent.join(", ")}: another job with its id, ${
        show(this.#context.id)
      }, is running, give each job a context of its own`,
    );
  }

  #tell(gate: SpendGate, spent: readonly Cost[]): void {
    const failed = (fault: unknown) =>
      this.#logger.error(
        `A spend gate failed while it was told of the end of job ${show(this.#context.id)}: ${
          messageOf(fault)
        }`,
      );
    try {
      Promise.resolve(gate.onFinished?.(this.#context, spent)).catch(failed);
    } catch (fault) {
      failed(fault);
    }
  }

  #checkOpen(deed: string): void {
    if (!this.#isFinished) return;
    throw new InvalidStateError(`Cannot ${deed} job ${show(this.#context.id)}: it has ended`);
  }
}

function checkPriced(binding: ModelBinding): void {
  if (!(binding instanceof ModelBinding)) {
    throw new TypeError(
      `Cannot consult spend gates: ${show(binding)} is among the bindings, it should be a ModelBinding`,
    );
  }
  void binding.reservation;
}
