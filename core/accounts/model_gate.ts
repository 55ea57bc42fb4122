import { CountingGate, type CountingGateOptions } from "./counting_gate.ts";
import { show } from "../invariant.ts";
import { ModelSpec, type ModelSpecFields } from "../models/model_spec.ts";

/**
 * How many requests of one model may be in flight at a time: one permit each, from admission to the end of the call. Named
 * after the entry's id, with `maxConcurrent` permits.
 */
export class ModelGate extends CountingGate {
  /**
   * A gate for one model, no request in flight.
   *
   * @param spec the model's entry, or its fields: `id` becomes the name, `maxConcurrent` the capacity.
   * @throws TypeError for a spec without `maxConcurrent` and a clock that is none, and as ModelSpec does.
   */
  constructor(spec: ModelSpecFields, options: CountingGateOptions = {}) {
    const { id, maxConcurrent } = ModelSpec.from(spec);
    super(id, checkedLimit(id, maxConcurrent), options);
  }
}

function checkedLimit(id: string, maxConcurrent: number | null): number {
  if (maxConcurrent !== null) return maxConcurrent;
  throw new TypeError(
    `Cannot make a ModelGate: maxConcurrent of ${
      show(id)
    } is null, it should be a number of requests; a model without one is limited by its bucket`,
  );
}
