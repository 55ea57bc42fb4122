import { type RuntimeName, runtimeOption, splitArguments, wholeNumber } from "../replay/command_line.ts";
import { quoted, UserError } from "../replay/user_error.ts";

/** What the user asked for. */
export interface Options {
  /** Wall time of the run, in whole seconds. */
  readonly seconds: number;
  /** How much of the quota all gateways together take, in percent. */
  readonly share: number;
  /** How many gateways share the quota. */
  readonly gateways: number;
  /** Null for the runtime that is running. */
  readonly runtime: RuntimeName | null;
  /** Whether only the help is wanted. */
  readonly wantsHelp: boolean;
}

const DEFAULTS = { seconds: 20, share: 96, gateways: 1 };

/** How to use the program. */
export const HELP: string =
  `Runs a gateway in front of a provider of models, with Sluice and without, and tells who is refused.

  npm run gateway -- [options]

Provider, gateways and callers are processes of their own. The provider counts by a sliding window. Each
side has half of the time, which is two minutes of the quota: its clocks run that much faster.

  --seconds N         wall time of the run                      (${DEFAULTS.seconds})
  --share PERCENT     how much of the quota the gateways take   (${DEFAULTS.share})
  --gateways N        how many of them share it                 (${DEFAULTS.gateways})
  --runtime deno|bun  run on this runtime                       (the one that is running)
  --help              show this

The exit status is 1 when a promise does not hold.
`;

const KNOWN = {
  "--seconds": `like --seconds ${DEFAULTS.seconds}`,
  "--share": `like --share ${DEFAULTS.share}`,
  "--gateways": "like --gateways 2",
  "--runtime": "--runtime deno or --runtime bun",
} as const;

/**
 * Reads the command line.
 * @throws UserError naming the option, its value, and what would do.
 */
export function parseOptions(args: readonly string[]): Options {
  const { values, rest } = splitArguments(args, KNOWN);
  if (rest.length > 0) {
    throw new UserError(`Cannot use ${quoted(rest[0] ?? "")}: there should be options only.`);
  }
  return {
    seconds: wholeNumber(values, "--seconds", { fallback: DEFAULTS.seconds, least: 3, most: 3600 }),
    share: wholeNumber(values, "--share", { fallback: DEFAULTS.share, least: 10, most: 100 }),
    gateways: wholeNumber(values, "--gateways", { fallback: DEFAULTS.gateways, least: 1, most: 8 }),
    runtime: runtimeOption(values),
    wantsHelp: values.has("--help"),
  };
}
