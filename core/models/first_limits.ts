import { show } from "../invariant.ts";
import type { Logger } from "../logger.ts";
import type { ModelSpec } from "./model_spec.ts";

/** The limits of a model that its account is made with. */
type LimitName = "tpm" | "bucketRpm" | "maxConcurrent";

/**
 * The spec with which each account was first asked for. A second one of that id gets the same account and its numbers are not read
 * (RF-04), which an operator should hear of: once for each account, as requests ask again and again.
 */
export class FirstLimits {
  readonly #limits: readonly LimitName[];
  readonly #logger: Logger;
  readonly #first = new Map<string, ModelSpec>();
  readonly #told = new Set<string>();

  constructor(limits: readonly LimitName[], logger: Logger) {
    this.#limits = limits;
    this.#logger = logger;
  }

  /** A spec that names limits asks for its account. */
  meet(spec: ModelSpec): void {
    const { id } = spec;
    const first = this.#first.get(id);
    if (first === undefined) this.#first.set(id, spec);
    else if (!this.#told.has(id) && this.#limits.some((limit) => first[limit] !== spec[limit])) {
      this.#told.add(id);
      this.#logger.warn(
        `The limits of ${show(id)} stay ${this.#text(first)}: its account was made before, ${
          this.#text(spec)
        } is not read`,
      );
    }
  }

  clear(): void {
    this.#first.clear();
    this.#told.clear();
  }

  #text(spec: ModelSpec): string {
    return this.#limits.map((limit) => `${limit === "bucketRpm" ? "rpm" : limit} ${spec[limit]}`).join(", ");
  }
}
