import { ModelGate } from "../accounts/model_gate.ts";
import { type TokenBucketCaps, TokenBucketRateLimiter } from "../accounts/token_bucket.ts";
import type { LimiterIdentity, RateLimiter } from "../account.ts";
import { type Clock, isClock, systemClock } from "../clock.ts";
import { UncorrectableError } from "../errors.ts";
import { messageOf } from "../faults.ts";
import { show } from "../invariant.ts";
import { type Logger, safeLogger } from "../logger.ts";
import { FirstLimits } from "./first_limits.ts";
import { type AnsweredCall, learnedLimits } from "./learned_limits.ts";
import { ModelSpec, type ModelSpecFields } from "./model_spec.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import type { TokenBucketStatus } from "../statuses.ts";

/** A class of accounts whose constructor takes nothing that it needs. */
export type LimiterClass<L extends RateLimiter<never>> = new () => L;

/** What the accounts that a factory makes are given. */
export interface RateLimiterFactoryOptions {
  /** The clock of its buckets and gates; the system's when left out. It must be the Admission's own. */
  clock?: Clock;
  /** The logger of its buckets; it is warned once of each model of which a second spec has other limits. Silent when left out. */
  logger?: Logger;
}

const OPTIONS: OptionNames<RateLimiterFactoryOptions> = { clock: true, logger: true };

const VERBS = ["fits", "tryTake", "give", "earliestFit", "onCapacityChange", "accountFor"] as const;

/**
 * Makes accounts and keeps them: one for each class, one bucket and one gate for each model. What it made it answers again
 * until `clear`.
 */
export class RateLimiterFactory {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #limiters = new Map<unknown, RateLimiter<never>>();
  readonly #buckets = new Map<string, TokenBucketRateLimiter>();
  readonly #gates = new Map<string, ModelGate>();
  readonly #bucketLimits: FirstLimits;
  readonly #gateLimits: FirstLimits;
  /** Classes whose constructors run now: one that asks for its own class would never end. */
  readonly #underConstruction = new Set<unknown>();

  /**
   * A factory that keeps nothing yet.
   *
   * @throws TypeError when the clock is none or the logger lacks a level.
   */
  constructor(options: RateLimiterFactoryOptions = {}) {
    checkOptionNames("Cannot make a RateLimiterFactory:", options, OPTIONS);
    const { clock = systemClock } = options;
    if (!isClock(clock)) {
      throw new TypeError(
        `Cannot make a RateLimiterFactory: clock is ${
          show(clock)
        }, it should be a Clock ({ now, wallNow, setTimer })`,
      );
    }
    this.#clock = clock;
    this.#logger = safeLogger(options.logger);
    this.#bucketLimits = new FirstLimits(["tpm", "bucketRpm"], this.#logger);
    this.#gateLimits = new FirstLimits(["maxConcurrent"], this.#logger);
  }

  /**
   * The one account of a class, made without arguments when first asked for.
   *
   * @throws UncorrectableError, naming the class and the reason, with the error as cause, when it is no class, its constructor
   * takes parameters or fails, or what it makes is no account (an abstract class makes none). Nothing is kept then.
   */
  limiter<L extends RateLimiter<never>>(type: LimiterClass<L>): L {
    const known = this.#limiters.get(type);
    if (known !== undefined) return known as L;
    const made = this.#construct(type);
    this.#limiters.set(type, made);
    return made;
  }

  /**
   * The bucket of a model, by id: a second spec of that id gets the same one, and its numbers are not read again; where they
   * differ, the logger is warned. It starts with the spec's `tpm` and `rpm`; a spec without rpm gets a thousandth of its tpm, at
   * least 1.
   *
   * @throws RangeError for a new id whose spec has no tpm, and as ModelSpec does.
   */
  bucket(spec: ModelSpecFields): TokenBucketRateLimiter {
    const checked = ModelSpec.from(spec);
    const { id, tpm, bucketRpm } = checked;
    const known = this.#buckets.get(id);
    if (known === undefined && tpm === 0) {
      throw new RangeError(
        `Cannot make a bucket for ${
          show(id)
        }: its tpm is 0, it should be 1 or more; a model limited by maxConcurrent has gate() instead`,
      );
    }
    const bucket = known ?? this.#addBucket(id, { tpm, rpm: bucketRpm });
    // A spec without tpm names no limits: its rpm is made up.
    if (tpm > 0) this.#bucketLimits.meet(checked);
    return bucket;
  }

  /**
   * The gate of a model, by id: a second spec of that id gets the same one, and where its number differs, the logger is warned.
   *
   * @throws TypeError for a spec without `maxConcurrent`, and as ModelSpec does.
   */
  gate(spec: ModelSpecFields): ModelGate {
    const checked = ModelSpec.from(spec);
    const known = checked.maxConcurrent === null ? undefined : this.#gates.get(checked.id);
    const gate = known ?? new ModelGate(checked, { clock: this.#clock });
    this.#gates.set(checked.id, gate);
    this.#gateLimits.meet(checked);
    return gate;
  }

  /**
   * Applies what a provider reports to a model's bucket in place, throttle kept, or makes the bucket with it. A pair of which
   * one is not finite or below 1 is ignored: it changes and makes nothing.
   *
   * @param model a spec, or its id.
   * @throws TypeError when a number is none, or the model is neither.
   */
  updateLimits(model: ModelSpecFields | string, limits: TokenBucketCaps): void {
    const id = idOf(model);
    const { tpm, rpm } = limits;
    if (
      ![reported(id, { limit: "tpm", value: tpm }), reported(id, { limit: "rpm", value: rpm })].every(Boolean)
    ) {
      return;
    }
    const known = this.#buckets.get(id);
    if (known === undefined) this.#addBucket(id, { tpm, rpm });
    else known.setConfig({ tpm, rpm });
  }

  /**
   * Learns the caps of a model's bucket from an answered call, by `updateLimits`. Only a successful answer of an LLM that was
   * not streamed and that names both numbers per minute teaches; errors, streams, embeddings and decisions change nothing.
   * Call it before `recordSuccess` on the bucket, which is made here when there is none.
   *
   * @param model a spec, or its id.
   * @returns whether the call's numbers were handed to `updateLimits`.
   * @throws TypeError when the model or a member of the call is not as said.
   */
  learnLimits(model: ModelSpecFields | string, call: AnsweredCall): boolean {
    const id = idOf(model);
    const limits = learnedLimits(id, call);
    if (limits !== null) this.updateLimits(id, limits);
    return limits !== null;
  }

  /** The status of a model's bucket, which is made if there is none. @throws as `bucket`. */
  status(spec: ModelSpecFields): TokenBucketStatus {
    return this.bucket(spec).status;
  }

  /** Every account it keeps, in the order made: those of classes, then buckets, then gates. Routers, which have no name, are left out. */
  get accounts(): LimiterIdentity[] {
    const named = [...this.#limiters.values()].filter(isIdentity);
    return [...named, ...this.#buckets.values(), ...this.#gates.values()];
  }

  /** Forgets every account: the next question makes a new one. Whoever has an old one may go on using it. */
  clear(): void {
    this.#limiters.clear();
    this.#buckets.clear();
    this.#gates.clear();
    this.#bucketLimits.clear();
    this.#gateLimits.clear();
  }

  #addBucket(id: string, limits: TokenBucketCaps): TokenBucketRateLimiter {
    const bucket = new TokenBucketRateLimiter(id, { ...limits, clock: this.#clock, logger: this.#logger });
    this.#buckets.set(id, bucket);
    return bucket;
  }

  #construct<L extends RateLimiter<never>>(type: LimiterClass<L>): L {
    if (this.#underConstruction.has(type)) {
      throw refused(type, new Error("its constructor asks the factory for its own class"));
    }
    assertBare(type);
    this.#underConstruction.add(type);
    try {
      return checkedAccount(new type());
    } catch (fault) {
      throw refused(type, fault);
    } finally {
      this.#underConstruction.delete(type);
    }
  }
}

/** @throws as ModelSpec does. */
function idOf(model: ModelSpecFields | string): string {
  return typeof model === "string" ? new ModelSpec({ id: model }).id : ModelSpec.from(model).id;
}

/** @throws UncorrectableError when it is no class, or its constructor takes parameters. */
function assertBare(type: LimiterClass<RateLimiter<never>>): void {
  if (!isConstructor(type)) throw refused(type, new TypeError("it is no class"));
  if (type.length === 0) return;
  const parameters = type.length === 1 ? "a parameter" : `${type.length} parameters`;
  throw refused(
    type,
    new TypeError(`it has no no-arg constructor, as it takes ${parameters} without a default value`),
  );
}

/** Whether `new` works on it; finding out runs nothing of it. */
function isConstructor(type: unknown): boolean {
  if (typeof type !== "function") return false;
  try {
    Reflect.construct(Object, [], type);
    return true;
  } catch {
    return false;
  }
}

/** @throws TypeError when it is no account. */
function checkedAccount<L extends RateLimiter<never>>(made: L): L {
  const missing = VERBS.find((verb) => typeof made[verb] !== "function");
  if (missing !== undefined) throw new TypeError(`what it makes is no account: it has no ${missing}()`);
  return made;
}

function refused(type: unknown, fault: unknown): UncorrectableError {
  const name = typeof type === "function" ? type.name || "(anonymous class)" : show(type);
  const reason = messageOf(fault);
  return new UncorrectableError(
    `Cannot make an account of ${name}: ${reason}. This is a fault of the deployment; no other request would do.`,
    { cause: fault },
  );
}

/** Whether a provider's number says anything. @throws TypeError when it is no number. */
function reported(id: string, { limit, value }: { limit: "tpm" | "rpm"; value: number }): boolean {
  if (typeof value === "number") return value >= 1 && value < Infinity;
  throw new TypeError(
    `Cannot update the limits of ${show(id)}: ${limit} is ${show(value)}, it should be a number per minute`,
  );
}

function isIdentity(limiter: object): limiter is LimiterIdentity & RateLimiter<never> {
  return typeof (limiter as Partial<LimiterIdentity>).limiterName === "string";
}
