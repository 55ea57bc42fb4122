import { quoted, UserError } from "../examples/replay/user_error.ts";
import type { EffortName } from "./workload.ts";

/** The runtimes that are measured. */
export const RUNTIMES = ["deno", "bun"] as const;
/** One of them. */
export type Runtime = (typeof RUNTIMES)[number];

/** What the user asked for. */
export interface Options {
  readonly effort: EffortName;
  readonly runtimes: readonly Runtime[];
  /** Names of the workloads to run, in the order of the bench. */
  readonly workloads: readonly string[];
  /** Where the JSON goes, as the user wrote it; null for nowhere. */
  readonly json: string | null;
  /** Whether docs/performance.md is to be refreshed. */
  readonly isWriting: boolean;
  readonly wantsHelp: boolean;
}

/** How to use the program. */
export function helpText(workloads: readonly string[]): string {
  return `Measures what admission costs, beside the libraries that do parts of it, on Deno and on Bun.

  npm run bench -- [options]

Without options it takes about ten minutes. The peers are installed into bench/node_modules first.

  --quick             less than two minutes, rougher figures
  --tiny              seconds: only shows that every contender runs
  --only NAME,NAME    only these workloads
  --runtime deno|bun  only on this runtime
  --json OUT          write the figures to OUT as an array of
                      {runtime, workload, contender, metric, unit, median, min, max}
  --write             refresh the tables and pictures of docs/performance.md
  --help              show this

The workloads: ${workloads.join(", ")}.
`;
}

const WITH_VALUE = ["--only", "--runtime", "--json"];
const FLAGS = ["--quick", "--tiny", "--write", "--help"];

/**
 * Reads the command line. An option's value may follow it or an equals sign; of an option given twice the last counts.
 * @param known the names of all workloads
 * @throws UserError naming the option, its value, and what would do.
 */
export function parseOptions(args: readonly string[], known: readonly string[]): Options {
  const given = split(args);
  const isTiny = given.has("--tiny");
  const isWriting = given.has("--write");
  if (isTiny && given.has("--quick")) {
    throw new UserError("Cannot use --tiny with --quick: choose one of them.");
  }
  if (isTiny && isWriting) {
    throw new UserError("Cannot use --write with --tiny: its figures mean nothing, use --quick or neither.");
  }
  const runtimes = runtimesOf(given.get("--runtime"));
  const workloads = workloadsOf(given.get("--only"), known);
  if (isWriting && (runtimes.length < RUNTIMES.length || workloads.length < known.length)) {
    throw new UserError(
      "Cannot use --write with --only or --runtime: the page tells one whole run, leave them out.",
    );
  }
  return {
    effort: isTiny ? "tiny" : given.has("--quick") ? "quick" : "full",
    runtimes,
    workloads,
    json: given.get("--json") ?? null,
    isWriting,
    wantsHelp: given.has("--help"),
  };
}

function split(args: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    const name = arg.split("=", 1)[0] ?? "";
    if (FLAGS.includes(arg)) given.set(arg, "");
    else if (arg === "-h") given.set("--help", "");
    else if (WITH_VALUE.includes(name)) {
      given.set(name, checkedValue(name, arg === name ? args[++index] : arg.slice(name.length + 1)));
    } else {
      throw new UserError(
        `Cannot use ${quoted(arg)}: it should be one of ${[...FLAGS, ...WITH_VALUE].join(", ")}.`,
      );
    }
  }
  return given;
}

function checkedValue(name: string, value: string | undefined): string {
  if (value !== undefined && value !== "" && !value.startsWith("--")) return value;
  throw new UserError(`Cannot use the option ${name}: it has no value, it should be ${EXAMPLES[name]}.`);
}

const EXAMPLES: Readonly<Record<string, string>> = {
  "--only": "like --only await-one,drain",
  "--runtime": "--runtime deno or --runtime bun",
  "--json": "like --json figures.json",
};

function runtimesOf(text: string | undefined): readonly Runtime[] {
  if (text === undefined) return RUNTIMES;
  const found = RUNTIMES.filter((runtime) => runtime === text);
  if (found.length > 0) return found;
  throw new UserError(`Cannot use --runtime ${quoted(text)}: it should be deno or bun.`);
}

function workloadsOf(text: string | undefined, known: readonly string[]): readonly string[] {
  if (text === undefined) return known;
  const asked = text.split(",").map((name) => name.trim());
  for (const name of asked) {
    if (known.includes(name)) continue;
    throw new UserError(`Cannot use --only ${quoted(name)}: it should be among ${known.join(", ")}.`);
  }
  return known.filter((name) => asked.includes(name));
}
