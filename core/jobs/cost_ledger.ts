import type { JobContext } from "../context.ts";
import { SpendCapError } from "../errors.ts";
import { show } from "../invariant.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import { checkedCurrency } from "../money.ts";
import { Cost, reservationCost } from "./cost.ts";
import type { SpendGate } from "./spend_gate.ts";

/** What a ledger may be given. */
export interface CostLedgerOptions {
  /**
   * The workflow that a job belongs to: a name, or null for none. Where it is left out, the context's `metadata.workflow`. A job stays
   * with the workflow under which it was first admitted.
   */
  workflowOf?: (context: JobContext) => string | null | undefined;
}

/** One currency of a workflow, in nano-units. */
interface CappedCurrency {
  cap: bigint;
  spent: bigint;
  /** The sum over the workflow's commitments, kept beside them. */
  committed: bigint;
}

interface Workflow {
  readonly name: string;
  readonly currencies: Map<string, CappedCurrency>;
  /** By job id: nano-units by currency. */
  readonly commitments: Map<string, Map<string, bigint>>;
}

/**
 * Keeps workflows within what they may spend. What a job reserves is committed when it is admitted here and until it ends, when its
 * real cost takes that place. A workflow without a cap is let through and nothing of it is recorded. Jobs are told apart by the id
 * of their context, so ids are unique among running jobs. Of a job that has ended nothing is kept but its share in the sum, and of
 * a workflow nothing after `uncap`. Each check costs one look at each binding and each currency.
 */
export class CostLedger implements SpendGate {
  readonly #workflowOf: NonNullable<CostLedgerOptions["workflowOf"]>;
  readonly #workflows = new Map<string, Workflow>();
  /** Of jobs with commitments, by id. */
  readonly #workflowOfJob = new Map<string, string>();

  /** A ledger without caps. @throws TypeError when `workflowOf` is no function. */
  constructor(options: CostLedgerOptions = {}) {
    const { workflowOf = workflowInMetadata } = options;
    if (typeof workflowOf !== "function") {
      throw new TypeError(
        `Cannot make a CostLedger: workflowOf is ${show(workflowOf)}, it should be a function`,
      );
    }
    this.#workflowOf = workflowOf;
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
    const { currencies } = this.#workflows.get(workflow) ?? this.#addWorkflow(workflow);
    const known = currencies.get(cap.currency);
    if (known === undefined) currencies.set(cap.currency, { cap: cap.nanos, spent: 0n, committed: 0n });
    else known.cap = cap.nanos;
  }

  /** Removes all caps of a workflow, and forgets what it spent and committed. */
  uncap(workflow: string): void {
    this.#workflows.delete(workflow);
  }

  /** What ended jobs of a workflow have spent in a currency since it was capped; zero where it has no cap. */
  spent(workflow: string, currency: string): Cost {
    return this.#sum(workflow, currency, "spent");
  }

  /** What unfinished jobs of a workflow may still spend in a currency, by their reservations; zero where it has no cap. */
  committed(workflow: string, currency: string): Cost {
    return this.#sum(workflow, currency, "committed");
  }

  /**
   * Admits a job within its workflow's caps and commits its reservations, which replace those of an earlier attempt of the same
   * job. That earlier commitment still counts while this one is judged.
   *
   * @throws SpendCapError for a model without prices, one priced in a currency without a cap, and reservations that together with
   * what is spent and committed exceed a cap; InvalidStateError for a binding that is not priced. Nothing was committed then.
   */
  check(context: JobContext, bindings: readonly ModelBinding[]): void {
    const workflow = this.#workflowOfContext(context);
    if (workflow === undefined) return;
    const asked = askedOf(workflow, bindings);
    for (const [currency, nanos] of asked) checkWithinCap(workflow, currency, nanos);
    this.#commit(workflow, context.id, asked);
  }

  /** Ends a job: its commitments go, its real costs are spent, in those currencies in which its workflow has a cap. */
  onFinished(context: JobContext, spent: readonly Cost[]): void {
    const workflow = this.#workflowOfContext(context);
    this.#workflowOfJob.delete(context.id);
    if (workflow === undefined) return;
    for (const [currency, nanos] of workflow.commitments.get(context.id) ?? []) {
      workflow.currencies.get(currency)!.committed -= nanos;
    }
    workflow.commitments.delete(context.id);
    for (const cost of spent) {
      const capped = workflow.currencies.get(cost.currency);
      if (capped !== undefined) capped.spent += cost.nanos;
    }
  }

  #addWorkflow(name: string): Workflow {
    const workflow = { name, currencies: new Map(), commitments: new Map() };
    this.#workflows.set(name, workflow);
    return workflow;
  }

  #workflowOfContext(context: JobContext): Workflow | undefined {
    const name = this.#workflowOfJob.get(context.id) ?? this.#workflowOf(context) ?? null;
    if (name === null) return undefined;
    if (typeof name === "string") return this.#workflows.get(name);
    throw new TypeError(
      `Cannot tell the workflow of job ${show(context.id)}: it is ${
        show(name)
      }, it should be a string or null`,
    );
  }

  #commit(workflow: Workflow, jobId: string, asked: ReadonlyMap<string, bigint>): void {
    const commitments = workflow.commitments.get(jobId) ?? new Map<string, bigint>();
    for (const [currency, nanos] of asked) {
      workflow.currencies.get(currency)!.committed += nanos - (commitments.get(currency) ?? 0n);
      commitments.set(currency, nanos);
    }
    workflow.commitments.set(jobId, commitments);
    this.#workflowOfJob.set(jobId, workflow.name);
  }

  #sum(workflow: string, currency: string, sum: "spent" | "committed"): Cost {
    const checked = checkedCurrency(`Cannot tell what is ${sum}: currency`, currency);
    return Cost.fromNanos(this.#workflows.get(workflow)?.currencies.get(checked)?.[sum] ?? 0n, checked);
  }
}

function workflowInMetadata({ metadata }: JobContext): string | null | undefined {
  return metadata["workflow"] as string | null | undefined;
}

/** Nano-units that the bindings reserve, by currency. @throws SpendCapError when one cannot be counted against a cap. */
function askedOf({ name, currencies }: Workflow, bindings: readonly ModelBinding[]): Map<string, bigint> {
  const asked = new Map<string, bigint>();
  for (const binding of bindings) {
    const cost = reservationCost(binding);
    const what = `Cannot start the job: the workflow ${show(name)} has a spend cap, and the model ${
      show(binding.model.id)
    }`;
    if (cost === null) {
      throw new SpendCapError(`${what} has no prices to count against it. Use a model with prices.`);
    }
    if (!currencies.has(cost.currency)) {
      const currencyNames = [...currencies.keys()].join(", ");
      throw new SpendCapError(
        `${what} is priced in ${cost.currency}, in which there is none. Use a model priced in ${currencyNames}.`,
        { asked: cost },
      );
    }
    asked.set(cost.currency, (asked.get(cost.currency) ?? 0n) + cost.nanos);
  }
  return asked;
}

function checkWithinCap({ name, currencies }: Workflow, currency: string, nanos: bigint): void {
  const capped = currencies.get(currency)!;
  if (capped.spent + capped.committed + nanos <= capped.cap) return;
  const cost = (amount: bigint) => Cost.fromNanos(amount, currency);
  const facts = {
    cap: cost(capped.cap),
    spent: cost(capped.spent),
    committed: cost(capped.committed),
    asked: cost(nanos),
  };
  throw new SpendCapError(
    `Cannot start the job: the workflow ${
      show(name)
    } has spent ${facts.spent} and committed ${facts.committed}, ` +
      `and this job's reservation of ${facts.asked} would exceed its cap of ${facts.cap}`,
    facts,
  );
}
