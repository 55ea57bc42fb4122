import { type Admission, type AdmitOptions, Demand, type RateLimiter, TimeoutError } from "../../mod.ts";

/** Digests of texts by a model; the first line of a text where the model has no room in time. */
export class Digests {
  readonly #admission: Admission;
  readonly #model: RateLimiter<number>;
  readonly #ask: (text: string) => Promise<string>;

  constructor(admission: Admission, model: RateLimiter<number>, ask: (text: string) => Promise<string>) {
    this.#admission = admission;
    this.#model = model;
    this.#ask = ask;
  }

  async digest(text: string, tokens: number, options: AdmitOptions = {}): Promise<string> {
    const demand = new Demand().add(this.#model, tokens);
    try {
      return await this.#admission.run(demand, () => this.#ask(text), { timeoutMs: 5_000, ...options });
    } catch (error) {
      if (error instanceof TimeoutError) return text.split("\n", 1)[0]!;
      throw error;
    }
  }
}
