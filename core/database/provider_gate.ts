import type { CountingGateOptions } from "../accounts/counting_gate.ts";
import { DatabaseGate } from "../accounts/database_gate.ts";
import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";

/** Most connections of one provider: the most permits of a gate. */
export const MAX_CONCURRENT: number = 2 ** 31 - 1;

/** What a provider is made of. */
export interface ProviderBound {
  readonly name: string;
  readonly maxConcurrent: number;
}

/**
 * The gate of a provider. `kind` is the name of its class, for the message.
 *
 * @throws TypeError or RangeError naming the argument, its value and what would do.
 */
export function providerGate(
  kind: string,
  { name, maxConcurrent }: ProviderBound,
  options: CountingGateOptions,
): DatabaseGate {
  const what = `Cannot make a ${kind}:`;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`${what} name is ${show(name)}, it should be a non-empty string`);
  }
  const range = { least: 1, most: MAX_CONCURRENT };
  return new DatabaseGate(name, checkedNumber(`${what} maxConcurrent`, maxConcurrent, range), options);
}
