import type { JobContext } from "../context.ts";
import { show } from "../invariant.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import { checkedCurrency } from "../money.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { CappedWorkflow } from "./capped_workflow.ts";
import { Cost } from "./cost.ts";
import type { SpendGate } from "./spend_gate.ts";

/** What a ledger may be given. */
export interface CostLedgerOptions {
  /**
   * The workflow that a job belongs to: a name, or null for none. Where it is left out, the context's `metadata.workflow`. A job stays
   * with the workflow under which it was first admitted.
   */
  workflowOf?: (context: JobContext) => string | null | undefined;
  /**
   * What becomes of a job whose reservations do not fit under a cap now, but would if the workflow's unfinished jobs had ended and
   * spent nothing: it is refused (`refuse`, when left out), or waits for its turn holding nothing (`wait`).
   */
  beyond?: "refuse" | "wait";
}

const OPTIONS: OptionNames<CostLedgerOptions> = { workflowOf: true, beyond: true };

/**
 * Keeps workflows within what they may spend. What a job reserves is committed when it is admitted here and until it ends, when its
 * real cost takes that place. A workflow without a cap is let through and nothing of it is recorded. Jobs are told apart by the id
 * of their context: SpendGates refuse a second job while one with its id is running. Of a job that has ended nothing is kept but its share in the sum, and of
 * a workflow nothing after `uncap`. Each check costs one look at each binding and each currency.
 *
 * With `beyond: "wait"` jobs of a workflow wait first in, first out. What can never fit is refused all the same, and so is another
 * attempt of a job, which has a commitment already: whoever waits holds nothing. The job's signal and context end such a wait; its
 * time limit begins later. A job must not await another job of its own workflow there: each could wait for the other.
 */
export class CostLedger implements SpendGate {
  readonly #workflowOf: NonNullable<CostLedgerOptions["workflowOf"]>;
  readonly #beyond: NonNullable<CostLedgerOptions["beyond"]>;
  readonly #workflows = new Map<string, CappedWorkflow>();
  /** Of jobs with commitments, and those that wait, by id. */
  readonly #workflowOfJob = new Map<string, string>();

  /** A ledger without caps. @throws TypeError when `workflowOf` is no function, or `beyond` neither of the two. */
  constructor(options: CostLedgerOptions = {}) {
    checkOptionNames("Cannot make a CostLedger:", options, OPTIONS);
    const { workflowOf = workflowInMetadata, beyond = "refuse" } = options;
    if (typeof workflowOf !== "function") {
      throw new TypeError(
        `Cannot make a CostLedger: workflowOf is ${show(workflowOf)}, it should be a function`,
      );
    }
    if (beyond !== "refuse" && beyond !== "wait") {
      throw new TypeError(
        `Cannot make a CostLedger: beyond is ${show(beyond)}, it should be "refuse" or "wait"`,
      );
    }
    this.#workflowOf = workflowOf;
    this.#beyond = beyond;
  }

  /**
   * Sets the most that a workflow may spend in the cap's currency, beside its caps in others. A cap that replaces another keeps
   * what was spent and committed; it may be below that, and then refuses until the workflow is uncapped.
   *
   * @throws TypeError when the workflow is no non-empty string or the cap no Cost.
   */
  cap(workflow: string, cap: Cost): void {
    if (typeof workflow !== "string" || workflow === "") {
      throw new TypeError(
        `Cannot set a cap: workflow is ${show(workflow)}, it should be a non-empty string`,
      );
    }
    if (!(cap instanceof Cost)) {
      throw new TypeError(`Cannot set a cap: it is ${show(cap)}, it should be a Cost`);
    }
    const capped = this.#workflows.get(workflow) ?? new CappedWorkflow(workflow);
    this.#workflows.set(workflow, capped);
    capped.cap(cap);
  }

  /** Removes all caps of a workflow, and forgets what it spent and committed. Its jobs that wait go. */
  uncap(workflow: string): void {
    const capped = this.#workflows.get(workflow);
    this.#workflows.delete(workflow);
    capped?.dissolve();
  }

  /** What ended jobs of a workflow have spent in a currency since it was capped; zero where it has no cap. */
  spent(workflow: string, currency: string): Cost {
    return this.#sum(workflow, currency, "spent");
  }

  /** What unfinished jobs of a workflow may still spend in a currency, by their reservations; zero where it has no cap. */
  committed(workflow: string, currency: string): Cost {
    return this.#sum(workflow, currency, "committed");
  }

  /** How many jobs of a workflow wait for others to end; 0 unless the ledger was made with `beyond: "wait"`. */
  waiting(workflow: string): number {
    return this.#workflows.get(workflow)?.waiting ?? 0;
  }

  /**
   * Admits a job within its workflow's caps and commits its reservations, which replace those of an earlier attempt of the same
   * job. That earlier commitment still counts while this one is judged. Answers a promise when the job has to wait.
   *
   * @throws SpendCapError for a model without prices, one priced in a currency without a cap, and reservations that together with
   * what is spent and committed exceed a cap; InvalidStateError for a binding that is not priced. Nothing was committed then.
   */
  check(context: JobContext, bindings: readonly ModelBinding[]): Promise<void> | void {
    const workflow = this.#workflowOfContext(context);
    if (workflow === undefined) return;
    const asked = workflow.asked(context.id, bindings);
    const turn = this.#beyond === "wait"
      ? workflow.takeInTurn(context.id, asked)
      : workflow.take(context.id, asked);
    this.#workflowOfJob.set(context.id, workflow.name);
    return turn;
  }

  /** Ends a job: its commitments go, its real costs are spent, in those currencies in which its workflow has a cap. */
  onFinished(context: JobContext, spent: readonly Cost[]): void {
    const workflow = this.#workflowOfContext(context);
    this.#workflowOfJob.delete(context.id);
    workflow?.end(context.id, spent);
  }

  #workflowOfContext(context: JobContext): CappedWorkflow | undefined {
    const name = this.#workflowOfJob.get(context.id) ?? this.#workflowOf(context) ?? null;
    if (name === null) return undefined;
    if (typeof name === "string") return this.#workflows.get(name);
    throw new TypeError(
      `Cannot tell the workflow of job ${show(context.id)}: it is ${
        show(name)
      }, it should be a string or null`,
    );
  }

  #sum(workflow: string, currency: string, sum: "spent" | "committed"): Cost {
    const checked = checkedCurrency(`Cannot tell what is ${sum}: currency`, currency);
    return Cost.fromNanos(this.#workflows.get(workflow)?.sum(checked, sum) ?? 0n, checked);
  }
}

function workflowInMetadata({ metadata }: JobContext): string | null | undefined {
  return metadata["workflow"] as string | null | undefined;
}
