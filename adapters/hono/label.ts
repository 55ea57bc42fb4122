import { fieldInteger, fieldString, plainName } from "./structured_fields.ts";

/** The name of a limit as clients are told it, with the texts that seldom change. */
export class Label {
  /** The account behind it, by `limiterName`; a bucket has two labels. */
  readonly account: string;
  /** What is counted; null for requests. */
  readonly unit: string | null;
  /** The name as a String of a structured field. */
  readonly text: string;
  #quota = NaN;
  #windowS: number | null = null;
  #policy = "";

  constructor(account: string, unit: string | null) {
    this.account = account;
    this.unit = unit;
    const name = plainName(account);
    this.text = fieldString(unit === "tokens" ? `${name}:tokens` : name);
  }

  /** Its item of `RateLimit-Policy`, made anew when the quota or its window is another one than before. */
  policyOf(quota: number, windowS: number | null): string {
    if (quota === this.#quota && windowS === this.#windowS) return this.#policy;
    const window = windowS === null ? "" : `;w=${fieldInteger(windowS)}`;
    const units = this.unit === null ? "" : `;qu=${fieldString(this.unit)}`;
    this.#policy = `${this.text};q=${fieldInteger(quota)}${window}${units}`;
    this.#quota = quota;
    this.#windowS = windowS;
    return this.#policy;
  }
}
