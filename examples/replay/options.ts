import { DEFAULT_LIMITS, type Limits, MAX_LIMIT } from "./limits.ts";
import { type RuntimeName, runtimeOption, splitArguments, wholeNumber } from "./command_line.ts";
import { quoted, UserError } from "./user_error.ts";

/** What the user asked for. */
export interface Options {
  readonly limits: Limits;
  /** The trace, as the user wrote it; null for generated traffic. */
  readonly file: string | null;
  /** Where the JSON lines go; null for nowhere. */
  readonly json: string | null;
  /** Where the plot goes; null for the default place. */
  readonly plot: string | null;
  /** Null for the runtime that is running. */
  readonly runtime: RuntimeName | null;
  /** The seed of generated traffic. */
  readonly seed: number;
  /** Whether only the help is wanted. */
  readonly wantsHelp: boolean;
}

/** How to use the program. */
export const HELP: string = `Replays LLM traffic through Sluice on a virtual clock, and draws what happened.

  npm run replay -- [FILE] [options]

FILE is a trace: the Azure LLM trace format (TIMESTAMP,ContextTokens,GeneratedTokens), or
JSON lines with timestamp (ms), input_length and output_length. Without one, bursty traffic is made up.

  --tpm N             tokens a minute of the model's quota      (${DEFAULT_LIMITS.tpm})
  --rpm N             requests a minute of the model's quota    (${DEFAULT_LIMITS.rpm})
  --http N            places in the HTTP pool                   (${DEFAULT_LIMITS.http})
  --db N              database permits                          (${DEFAULT_LIMITS.db})
  --seed N            another made-up traffic                   (1)
  --json OUT          write every job to OUT, as JSON lines
  --plot FILE         write the plot to FILE                    (replay.svg, or next to OUT)
  --runtime deno|bun  run on this runtime                       (the one that is running)
  --help              show this
`;

/**
 * Reads the command line.
 * @throws UserError naming the option, its value, and what would do.
 */
export function parseOptions(args: readonly string[]): Options {
  const { values, rest } = splitArguments(args, KNOWN);
  const files = rest.map(checkedFile);
  if (files.length > 1) {
    throw new UserError(`Cannot replay ${files.map(quoted).join(" and ")}: name one file at a time.`);
  }
  if (files.length > 0 && values.has("--seed")) {
    throw new UserError("Cannot use --seed with a file: it is for made-up traffic, leave one of them out.");
  }
  return {
    limits: {
      tpm: limit(values, "--tpm", DEFAULT_LIMITS.tpm),
      rpm: limit(values, "--rpm", DEFAULT_LIMITS.rpm),
      http: limit(values, "--http", DEFAULT_LIMITS.http),
      db: limit(values, "--db", DEFAULT_LIMITS.db),
    },
    file: files[0] ?? null,
    json: values.get("--json") ?? null,
    plot: values.get("--plot") ?? null,
    runtime: runtimeOption(values),
    seed: wholeNumber(values, "--seed", { fallback: 1, least: 0, most: 0xffff_ffff }),
    wantsHelp: values.has("--help"),
  };
}

const KNOWN = {
  "--tpm": `like --tpm ${DEFAULT_LIMITS.tpm}`,
  "--rpm": `like --rpm ${DEFAULT_LIMITS.rpm}`,
  "--http": `like --http ${DEFAULT_LIMITS.http}`,
  "--db": `like --db ${DEFAULT_LIMITS.db}`,
  "--seed": "like --seed 2",
  "--json": "like --json jobs.jsonl",
  "--plot": "like --plot replay.svg",
  "--runtime": "--runtime deno or --runtime bun",
} as const;

function checkedFile(file: string): string {
  if (file !== "") return file;
  throw new UserError(`Cannot replay "": name a file, or leave it out for made-up traffic.`);
}

function limit(values: ReadonlyMap<string, string>, name: string, fallback: number): number {
  return wholeNumber(values, name, { fallback, least: 1, most: MAX_LIMIT });
}
