import process from "node:process";
import { quoted, UserError } from "../replay/user_error.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Scenario } from "./scenario.ts";
import { Stage } from "./stage.ts";
import { storyText } from "./text.ts";

const WIDTH = Math.max(...SCENARIOS.map(({ name }) => name.length));
const LIST = SCENARIOS.map(({ name, title }) => `  ${name.padEnd(WIDTH)}  ${title}\n`).join("");

const HELP =
  `Plays a small scenario on a clock that stands still between two events, and prints what admission decides.

  npm run explain -- [SCENARIO] [options]

${LIST}
Without a name it plays ${SCENARIOS[0]!.name}. docs/deciding.md goes through each.

  --list   the scenarios
  --help   show this
`;

/**
 * The program behind `npm run explain`.
 * @param args the command line after the script
 * @returns the exit status: 0, or 1 after an error that is the user's to put right, told on stderr
 */
export async function runCli(args: readonly string[]): Promise<number> {
  try {
    process.stdout.write(await answerTo(args));
    return 0;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function answerTo(args: readonly string[]): Promise<string> {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const unknown = args.find((arg) => arg.startsWith("-") && !["--list", "--help", "-h"].includes(arg));
  if (unknown !== undefined) {
    throw new UserError(`Cannot use the option ${quoted(unknown)}: it should be --list or --help.`);
  }
  if (args.includes("--help") || args.includes("-h")) return HELP;
  if (args.includes("--list")) return LIST;
  if (names.length > 1) {
    throw new UserError(`Cannot explain ${names.map(quoted).join(" and ")}: name one scenario at a time.`);
  }
  const scenario = names.length === 0 ? SCENARIOS[0]! : scenarioOf(names[0]!);
  const stage = new Stage();
  await scenario.play(stage);
  return storyText(scenario, stage.end(), emphasis());
}

function scenarioOf(name: string): Scenario {
  const known = SCENARIOS.find((scenario) => scenario.name === name);
  if (known !== undefined) return known;
  const names = SCENARIOS.map((scenario) => scenario.name).join(", ");
  throw new UserError(`Cannot explain ${quoted(name)}: it should be one of ${names}.`);
}

/** Bold on a terminal that wants it; plain text otherwise, so that a file or a pipe gets words alone. */
function emphasis(): (heading: string) => string {
  const isPlain = process.stdout.isTTY !== true || (process.env["NO_COLOR"] ?? "") !== "";
  return isPlain ? (heading) => heading : (heading) => `\u001b[1m${heading}\u001b[22m`;
}
