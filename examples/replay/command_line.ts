import { quoted, UserError } from "./user_error.ts";

/** A runtime that a program can run on. */
export type RuntimeName = "deno" | "bun";

/** Options that take a value, by name, with what each may look like. */
export type KnownOptions = Readonly<Record<string, string>>;

/** A command line, taken apart. */
export interface CommandLine {
  /** By name; `--help` with an empty value. */
  readonly values: ReadonlyMap<string, string>;
  /** What belongs to no option, in order. */
  readonly rest: readonly string[];
}

/**
 * Takes a command line apart. An option's value may follow it or an equals sign; of an option given twice the last counts.
 * @throws UserError naming the option, and what would do.
 */
export function splitArguments(args: readonly string[], known: KnownOptions): CommandLine {
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const [name = "", ...after] = (args[index] ?? "").split("=");
    if (name === "--help" || name === "-h") values.set("--help", "");
    else if (Object.hasOwn(known, name)) {
      const value = after.length > 0 ? after.join("=") : args[++index];
      values.set(name, checkedValue(name, value, known));
    } else if (name.startsWith("-")) {
      const names = Object.keys(known).join(", ");
      throw new UserError(`Cannot use the option ${quoted(name)}: it should be one of ${names}, --help.`);
    } else rest.push(args[index] ?? "");
  }
  return { values, rest };
}

function checkedValue(name: string, value: string | undefined, known: KnownOptions): string {
  if (value !== undefined && value !== "" && !value.startsWith("--")) return value;
  throw new UserError(`Cannot use the option ${name}: it has no value, it should be ${known[name]}.`);
}

/** An option that is a whole number. @throws UserError naming the option, its value, and what would do. */
export function wholeNumber(
  values: ReadonlyMap<string, string>,
  name: string,
  range: { fallback: number; least: number; most: number },
): number {
  const text = values.get(name);
  if (text === undefined) return range.fallback;
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  if (value >= range.least && value <= range.most) return value;
  const should = `it should be a whole number from ${range.least} to ${range.most}`;
  throw new UserError(`Cannot use ${name} ${quoted(text)}: ${should}.`);
}

/** The option `--runtime`; null when it is not given. @throws UserError when it is neither. */
export function runtimeOption(values: ReadonlyMap<string, string>): RuntimeName | null {
  const text = values.get("--runtime");
  if (text === undefined || text === "deno" || text === "bun") return text ?? null;
  throw new UserError(`Cannot use --runtime ${quoted(text)}: it should be deno or bun.`);
}
