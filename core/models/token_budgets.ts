import { checkedNumber } from "../checked_number.ts";
import { show } from "../invariant.ts";
import type { ModelSpec } from "./model_spec.ts";

/**
 * How a model reasons, and so whether a call must set tokens aside for it: never (`NONE`), when asked to (`EXTENDED`, `ADAPTIVE`),
 * or always (`REASONING_EFFORT`).
 */
export type ThinkingMode = "NONE" | "EXTENDED" | "ADAPTIVE" | "REASONING_EFFORT";

/** How long a model should reason before it answers, from not at all to as long as it can. */
export type ThinkingDepth = "IMMEDIATE" | "QUICK" | "STANDARD" | "THOROUGH" | "ULTRA";

/** How long an answer may get, from a word to the model's ceiling. */
export type OutputRung = "VERDICT" | "COMPACT" | "STANDARD" | "EXTENDED" | "MAX";

/** Tokens of each rung but `MAX`, which is the model's ceiling. */
export type OutputBudgets = Readonly<Record<Exclude<OutputRung, "MAX">, number>>;

/** Tokens of reasoning at each depth. `IMMEDIATE` belongs to `REASONING_EFFORT`, which reasons at every depth, and to no other. */
export type ThinkingBudgets =
  & Readonly<Record<Exclude<ThinkingDepth, "IMMEDIATE">, number>>
  & { readonly IMMEDIATE?: number };

/** Tokens of the rungs where an entry has no table of its own. */
const RUNGS: OutputBudgets = { VERDICT: 1_024, COMPACT: 4_096, STANDARD: 16_384, EXTENDED: 32_768 };
/** What part of the ceiling reasoning gets where an entry has no table: one in so many. */
const SHARES = { QUICK: 16, STANDARD: 8, THOROUGH: 4, ULTRA: 4 } as const;
/** The least that reasoning gets where it is booked, which is also the least that Anthropic's `budget_tokens` takes. */
const LEAST_THINKING_TOKENS = 1_024;

/** The modes. */
export const THINKING_MODES: readonly ThinkingMode[] = ["NONE", "EXTENDED", "ADAPTIVE", "REASONING_EFFORT"];
/** The rungs, the shortest first. */
export const OUTPUT_RUNGS: readonly OutputRung[] = ["VERDICT", "COMPACT", "STANDARD", "EXTENDED", "MAX"];
/** The depths, the shallowest first. */
export const THINKING_DEPTHS: readonly ThinkingDepth[] = [
  "IMMEDIATE",
  "QUICK",
  "STANDARD",
  "THOROUGH",
  "ULTRA",
];

const TOKENS = { least: 0, most: 2 ** 31 - 1 };

/**
 * Tokens that an answer of this rung may have: the entry's own number, else 1,024 for VERDICT, 4,096 for COMPACT, 16,384 for
 * STANDARD, 32,768 for EXTENDED; never more than the model's ceiling, which MAX is.
 *
 * @throws TypeError when the rung is none, or the spec has no `maxOutputTokens`.
 */
export function outputBudget(model: ModelSpec, rung: OutputRung): number {
  const ceiling = saidTokens(model, "maxOutputTokens");
  const checked = oneOf("Cannot tell an output budget: rung", rung, OUTPUT_RUNGS);
  return checked === "MAX" ? ceiling : Math.min((model.outputBudgets ?? RUNGS)[checked], ceiling);
}

/**
 * Tokens to set aside for reasoning at this depth, beside the answer: 0 where the model's mode books none. Otherwise the entry's
 * own number, else a part of its ceiling and at least 1,024: a sixteenth at QUICK, an eighth at STANDARD, a quarter at THOROUGH and
 * ULTRA; 1,024 at IMMEDIATE, which only REASONING_EFFORT books. Without a model, 0.
 *
 * @throws TypeError when the depth is none, or the spec has no `maxOutputTokens` where a part of it is needed.
 */
export function thinkingBudget(model: ModelSpec | null, depth: ThinkingDepth): number {
  const checked = oneOf("Cannot tell a thinking budget: depth", depth, THINKING_DEPTHS);
  if (model === null || !booksThinking(model.thinkingMode, checked)) return 0;
  const own = model.thinkingBudgets?.[checked];
  if (own !== undefined) return own;
  if (checked === "IMMEDIATE") return LEAST_THINKING_TOKENS;
  const share = Math.trunc(saidTokens(model, "maxOutputTokens") / SHARES[checked]);
  return Math.max(LEAST_THINKING_TOKENS, share);
}

function booksThinking(mode: ThinkingMode, depth: ThinkingDepth): boolean {
  if (mode === "REASONING_EFFORT") return true;
  return mode !== "NONE" && depth !== "IMMEDIATE";
}

/** A ceiling that the spec may have left out. @throws TypeError naming it. */
export function saidTokens(model: ModelSpec, field: "maxContextTokens" | "maxOutputTokens"): number {
  const tokens = model[field];
  if (tokens !== null) return tokens;
  throw new TypeError(
    `Cannot price a call of ${show(model.id)}: its spec has no ${field}, it should have a number of tokens`,
  );
}

/** The table, whole and frozen; null when there is none. @throws TypeError or RangeError naming what is wrong in it. */
export function checkedOutputBudgets(what: string, table: OutputBudgets | null): OutputBudgets | null {
  return table === null ? null : checkedTable(what, table, ["VERDICT", "COMPACT", "STANDARD", "EXTENDED"]);
}

/** The table, whole and frozen; null when there is none. @throws TypeError or RangeError naming what is wrong in it. */
export function checkedThinkingBudgets(
  what: string,
  mode: ThinkingMode,
  table: ThinkingBudgets | null,
): ThinkingBudgets | null {
  const depths = mode === "REASONING_EFFORT" ? THINKING_DEPTHS : THINKING_DEPTHS.slice(1);
  return table === null ? null : checkedTable(what, table, depths as (keyof ThinkingBudgets)[]);
}

/** One of the names. @throws TypeError listing them. */
export function oneOf<T extends string>(what: string, value: T, names: readonly T[]): T {
  if (names.includes(value)) return value;
  throw new TypeError(`${what} is ${show(value)}, it should be one of ${names.join(", ")}`);
}

/** A table replaces the defaults wholly or not at all: a row that is missing would be a silent default. */
function checkedTable<K extends string, T extends { readonly [key in K]?: number }>(
  what: string,
  table: T,
  keys: readonly K[],
): T {
  const rule = `it should have exactly ${keys.join(", ")}`;
  if (typeof table !== "object") throw new TypeError(`${what} is ${show(table)}, ${rule}`);
  const extra = Object.keys(table).find((key) => !keys.includes(key as K));
  if (extra !== undefined) throw new TypeError(`${what} has ${show(extra)}, ${rule}`);
  const missing = keys.find((key) => table[key] === undefined);
  if (missing !== undefined) throw new TypeError(`${what} has no ${missing}, ${rule}`);
  for (const key of keys) checkedNumber(`${what}.${key}`, table[key] as number, TOKENS);
  return Object.freeze({ ...table });
}
