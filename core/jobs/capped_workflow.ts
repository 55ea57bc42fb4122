import { SpendCapError } from "../errors.ts";
import { show } from "../invariant.ts";
import type { ModelBinding } from "../models/model_binding.ts";
import { Cost, reservationCost } from "./cost.ts";

/** Nano-units by currency. */
export type Amounts = ReadonlyMap<string, bigint>;

/** One currency of a workflow, in nano-units. */
interface CappedCurrency {
  cap: bigint;
  spent: bigint;
  /** The sum over the workflow's commitments, kept beside them. */
  committed: bigint;
}

/** A job that will be let through, or refused, when others have ended. */
interface WaitingJob {
  readonly asked: Amounts;
  readonly resolve: () => void;
  readonly reject: (error: SpendCapError) => void;
}

/** The caps of one workflow, what counts against them, and the jobs that wait for room under them, first in, first out. */
export class CappedWorkflow {
  readonly name: string;
  readonly #currencies = new Map<string, CappedCurrency>();
  /** By job id. */
  readonly #commitments = new Map<string, Map<string, bigint>>();
  /** By job id, in the order in which they came. None of them has a commitment, so they never wait for each other. */
  readonly #waiting = new Map<string, WaitingJob>();

  constructor(name: string) {
    this.name = name;
  }

  /** How many jobs wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Nano-units of a currency, zero where it has no cap. */
  sum(currency: string, sum: "spent" | "committed"): bigint {
    return this.#currencies.get(currency)?.[sum] ?? 0n;
  }

  /** Sets the cap of a currency. What was spent and committed stays. */
  cap({ nanos, currency }: Cost): void {
    const known = this.#currencies.get(currency);
    if (known === undefined) this.#currencies.set(currency, { cap: nanos, spent: 0n, committed: 0n });
    else known.cap = nanos;
    this.#advance();
  }

  /** Commits what a job asks for in place of what it asked for before, which counts while this is judged. @throws SpendCapError. */
  take(jobId: string, asked: Amounts): void {
    const refusal = this.#refusalOf(jobId, asked);
    if (refusal !== null) throw refusal;
    this.#commit(jobId, asked);
  }

  /**
   * As `take`, but where others have to end first, or wait already, the promise resolves once it is committed. A job that has a
   * commitment is judged at once: two of these could wait for each other.
   */
  takeInTurn(jobId: string, asked: Amounts): Promise<void> | void {
    const holdsNothing = !this.#commitments.has(jobId) && !this.#waiting.has(jobId);
    const refusal = this.#refusalOf(jobId, asked);
    if (!holdsNothing || refusal?.isFinal || (refusal === null && this.#waiting.size === 0)) {
      return this.take(jobId, asked);
    }
    return new Promise((resolve, reject) => this.#waiting.set(jobId, { asked, resolve, reject }));
  }

  /** A job has ended: its commitments go, what it spent counts where there is a cap. */
  end(jobId: string, spent: readonly Cost[]): void {
    this.#waiting.get(jobId)?.resolve();
    this.#waiting.delete(jobId);
    for (const [currency, nanos] of this.#commitments.get(jobId) ?? []) {
      this.#currencies.get(currency)!.committed -= nanos;
    }
    this.#commitments.delete(jobId);
    for (const cost of spent) {
      const capped = this.#currencies.get(cost.currency);
      if (capped !== undefined) capped.spent += cost.nanos;
    }
    this.#advance();
  }

  /** There are no caps any more: lets everybody go who waits. */
  dissolve(): void {
    for (const { resolve } of this.#waiting.values()) resolve();
    this.#waiting.clear();
  }

  /**
   * Nano-units that a job's bindings reserve, by currency.
   *
   * @throws SpendCapError when one cannot be counted against a cap; InvalidStateError when one is not priced.
   */
  asked(jobId: string, bindings: readonly ModelBinding[]): Amounts {
    const asked = new Map<string, bigint>();
    for (const binding of bindings) {
      const { currency, nanos } = this.#countable(jobId, binding);
      asked.set(currency, (asked.get(currency) ?? 0n) + nanos);
    }
    return asked;
  }

  #countable(jobId: string, binding: ModelBinding): Cost {
    const cost = reservationCost(binding);
    const what = `${this.#cannotStart(jobId)} has a spend cap, and the model ${show(binding.model.id)}`;
    if (cost === null) {
      throw new SpendCapError(`${what} has no prices to count against it. Use a model with prices.`);
    }
    if (this.#currencies.has(cost.currency)) return cost;
    const currencyNames = [...this.#currencies.keys()].join(", ");
    throw new SpendCapError(
      `${what} is priced in ${cost.currency}, in which there is none. Use a model priced in ${currencyNames}.`,
      { asked: cost },
    );
  }

  /** Lets the first of those who wait go, and the next, as long as there is room; whoever can never have it is refused. */
  #advance(): void {
    for (const [jobId, { asked, resolve, reject }] of this.#waiting) {
      const refusal = this.#refusalOf(jobId, asked);
      if (refusal?.isFinal === false) return;
      this.#waiting.delete(jobId);
      if (refusal !== null) reject(refusal);
      else {
        this.#commit(jobId, asked);
        resolve();
      }
    }
  }

  #commit(jobId: string, asked: Amounts): void {
    const commitments = this.#commitments.get(jobId) ?? new Map<string, bigint>();
    for (const [currency, nanos] of asked) {
      this.#currencies.get(currency)!.committed += nanos - (commitments.get(currency) ?? 0n);
      commitments.set(currency, nanos);
    }
    this.#commitments.set(jobId, commitments);
  }

  /** Why a job may not go now, or null: a cap that rules it out for good before one that others stand in the way of. */
  #refusalOf(jobId: string, asked: Amounts): SpendCapError | null {
    let passing: SpendCapError | null = null;
    for (const [currency, nanos] of asked) {
      const { cap, spent, committed } = this.#currencies.get(currency)!;
      if (spent + committed + nanos <= cap) continue;
      const refusal = this.#exceeds(jobId, currency, nanos);
      if (refusal.isFinal) return refusal;
      passing ??= refusal;
    }
    return passing;
  }

  #exceeds(jobId: string, currency: string, nanos: bigint): SpendCapError {
    const capped = this.#currencies.get(currency)!;
    const cost = (amount: bigint) => Cost.fromNanos(amount, currency);
    const facts = {
      cap: cost(capped.cap),
      spent: cost(capped.spent),
      committed: cost(capped.committed),
      asked: cost(nanos),
      isFinal: capped.spent + nanos > capped.cap,
    };
    const own = this.#commitments.get(jobId)?.get(currency) ?? 0n;
    const ofIt = own === 0n ? "" : `, ${cost(own)} of it for this job's own earlier attempt`;
    return new SpendCapError(
      `${this.#cannotStart(jobId)} has spent ${facts.spent} and committed ` +
        `${facts.committed}${ofIt}, and this job's reservation of ${facts.asked} would exceed its cap of ${facts.cap}`,
      facts,
    );
  }
  #cannotStart(jobId: string): string {
    return `Cannot start job ${show(jobId)}: the workflow ${show(this.name)}`;
  }
}
