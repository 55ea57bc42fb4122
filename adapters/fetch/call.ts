import { type AdmitOptions, Demand, type ModelSpec, type TokenBucketRateLimiter } from "../../mod.ts";
import { show } from "../show.ts";
import type { CheckedOptions } from "./options.ts";
import type { Outgoing } from "./outgoing.ts";

/** One call of an admitted fetch: what is the same in all its attempts. */
export interface Call {
  readonly options: CheckedOptions;
  readonly outgoing: Outgoing;
  readonly demand: Demand;
  readonly admit: Omit<AdmitOptions, "signal">;
  /** When it was made, by the clock. */
  readonly sinceMs: number;
  /** Null when the request names none. */
  readonly model: ModelSpec | null;
  /** The bucket of the model; null when it has a gate, or the demand does not name it. */
  readonly bucket: TokenBucketRateLimiter | null;
}

/**
 * Works out what a request asks for: its model, the HTTP pool, then what the options add (PR-24).
 *
 * @throws as the functions in the options, `Demand.add` and the accounts do.
 */
export function callOf(options: CheckedOptions, outgoing: Outgoing, sinceMs: number): Call {
  const { view } = outgoing;
  const model = options.modelOf(view);
  const own = model?.maxConcurrent === null ? options.accounts.bucket(model) : null;
  const derived = new Demand();
  if (model !== null && own !== null) derived.add(own, options.estimate(view, model));
  else if (model !== null) derived.add(options.accounts.gate(model));
  if (options.http !== null) derived.add(options.http);
  const demand = checkedDemand(options.demand(derived, view) ?? derived);
  const isNamed = demand.entries.some(({ key }) => (key as unknown) === own);
  return {
    options,
    outgoing,
    demand,
    admit: options.admit(view),
    sinceMs,
    model,
    bucket: isNamed ? own : null,
  };
}

function checkedDemand(answer: unknown): Demand {
  if (answer instanceof Demand) return answer;
  throw new TypeError(
    `Cannot admit a request: the answer of demand is ${
      show(answer)
    }, it should be a Demand, not a promise of one, ` +
      "or undefined for the one that it is given",
  );
}
