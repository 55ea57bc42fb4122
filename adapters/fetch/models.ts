import {
  CorrectableError,
  type CountingGate,
  type Logger,
  ModelSpec,
  type RateLimiterFactory,
  type RateLimiterRegistry,
  TokenBucketRateLimiter,
} from "../../mod.ts";
import type { AdmittedFetchOptions } from "./options.ts";
import { attempt } from "./outcome.ts";
import type { OutgoingRequest } from "./outgoing.ts";
import { checkedBy, refused } from "./refused.ts";

/** Where the accounts of models are kept. */
type ModelAccounts = RateLimiterRegistry | RateLimiterFactory;

/** The models of an admitted fetch. */
export interface Models {
  /** The model of a request, null when it asks for none. */
  readonly of: (request: OutgoingRequest) => ModelSpec | null;
  /** All that are known beforehand. */
  readonly specs: readonly ModelSpec[];
}

/** @throws TypeError or RangeError naming the place in a list; what a function answers is checked when a request comes. */
export function checkedModels(
  models: NonNullable<AdmittedFetchOptions["models"]>,
  accounts: ModelAccounts,
): Models {
  if (typeof models === "function") {
    const of = (request: OutgoingRequest) => {
      const model = models(request) ?? null;
      return model === null ? null : ModelSpec.from(model);
    };
    return { of, specs: [] };
  }
  if (!Array.isArray(models)) throw refused("models", models, "an array of ModelSpecs, or a function");
  const byName = new Map<string, ModelSpec>();
  for (const [index, fields] of models.entries()) {
    const place = `models[${index}]`;
    const spec = checkedBy(place, () => ModelSpec.from(fields));
    const { wireModelId } = spec;
    if (byName.has(wireModelId)) {
      throw refused("models", `two of ${JSON.stringify(wireModelId)}`, "one for each name, or a function");
    }
    checkLimits(place, spec, accounts);
    byName.set(wireModelId, spec);
  }
  const of = ({ model }: OutgoingRequest) =>
    model === null ? null : byName.get(model) ?? unknownModel(model, [...byName.keys()]);
  return { of, specs: [...byName.values()] };
}

/** @throws RangeError for a model without limits, unless it has a bucket already. */
function checkLimits(
  place: string,
  { id, tpm, maxConcurrent }: ModelSpec,
  { accounts }: ModelAccounts,
): void {
  const isLimited = maxConcurrent !== null || tpm > 0;
  if (
    isLimited || accounts.some((each) => each instanceof TokenBucketRateLimiter && each.limiterName === id)
  ) {
    return;
  }
  throw new RangeError(
    `Cannot make an admitted fetch: ${place} (${JSON.stringify(id)}) has no tpm, ` +
      "it should have its tokens per minute, or maxConcurrent",
  );
}

function unknownModel(model: string, known: readonly string[]): never {
  // Whoever sent the request can mend it, and may read this.
  throw new CorrectableError(
    `Cannot admit a request: its model is ${JSON.stringify(model.slice(0, 100))}, it should be one of ${
      known.slice(0, 20).join(", ")
    }`,
  );
}

/** The numbers with which an account was first met here: what it learned since contradicts nobody. */
const firstLimits = new WeakMap<object, string>();

/**
 * Makes the account of a model where there is none. One that there is keeps its numbers, whatever a second spec says, and the logger
 * hears of that.
 */
export function openAccount(
  spec: ModelSpec,
  { accounts, logger }: { readonly accounts: ModelAccounts; readonly logger: Logger | undefined },
): void {
  const account = spec.maxConcurrent === null ? accounts.bucket(spec) : accounts.gate(spec);
  const kept = firstLimits.get(account) ?? limitsOf(account);
  firstLimits.set(account, kept);
  const asked = spec.maxConcurrent === null
    ? limitsText(spec.tpm, spec.bucketRpm)
    : `maxConcurrent ${spec.maxConcurrent}`;
  if (asked === kept || (spec.maxConcurrent === null && spec.tpm === 0)) return;
  attempt(logger, "warn of limits that differ", () =>
    logger?.warn(
      `The limits of ${
        JSON.stringify(spec.id)
      } stay ${kept}: its account was made before, ${asked} is not read`,
    ));
}

function limitsOf(account: TokenBucketRateLimiter | CountingGate): string {
  return account instanceof TokenBucketRateLimiter
    ? limitsText(account.status.maxTokens, account.status.maxRequests)
    : `maxConcurrent ${account.capacity}`;
}

function limitsText(tpm: number, rpm: number): string {
  return `tpm ${tpm}, rpm ${rpm}`;
}
