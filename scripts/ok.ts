/**
 * `npm run ok [-- NAME...]`: all checks, or the named ones, each with its time; `--write` repairs what can be repaired.
 *
 * Every check runs even when an earlier one failed, so that one run tells everything. As many run at a time as there are
 * processors, those that need all of them at the end. The last line counts checks.
 */
import { availableParallelism } from "node:os";
import process from "node:process";
import { type Check, type CheckName, CHECKS } from "./support/checks.ts";
import { runTool, runToolBeside } from "./support/project.ts";
import { sideBySide } from "./support/side_by_side.ts";

/** What runs without a name given, what takes longest first: everything but what judges the packed package, and slow tests on servers. */
const DEFAULT: readonly CheckName[] = [
  "types",
  "kernel",
  "tidy",
  "lint",
  "fmt",
  "rules",
  "docs",
  "publish",
  "tests",
];

function isCheckName(name: string): name is CheckName {
  return Object.hasOwn(CHECKS, name);
}

function title(name: CheckName): string {
  return `\n== ${name}: ${CHECKS[name].what}`;
}

function verdict(name: CheckName, holds: boolean, started: number): string {
  return `== ${name}: ${holds ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(1)} s)`;
}

/** How checks are run. */
interface Run {
  readonly isWriting: boolean;
  /** Whether they were asked for by name. */
  readonly areNamed: boolean;
}

/** Runs one check by itself; true when it holds. */
function runAlone(name: CheckName, { isWriting, areNamed }: Run): boolean {
  const check: Check = CHECKS[name];
  console.log(title(name));
  const started = performance.now();
  const whole = areNamed ? check.commands : check.unnamed ?? check.commands;
  const commands = isWriting && check.repair ? check.repair : whole;
  const holds = commands.every(([command = "", ...args]) => runTool(command, args).status === 0);
  console.log(verdict(name, holds, started));
  return holds;
}

/** Runs one check beside others, and tells how it went in one piece; true when it holds. */
async function runBeside(name: CheckName): Promise<boolean> {
  const started = performance.now();
  let told = "";
  let holds = true;
  for (const [command = "", ...args] of CHECKS[name].commands) {
    const { status, output } = await runToolBeside(command, args);
    told += output;
    holds = status === 0;
    if (!holds) break;
  }
  console.log(
    [title(name), ...(told === "" ? [] : [told.trimEnd()]), verdict(name, holds, started)].join("\n"),
  );
  return holds;
}

/** Runs checks; gives the names of those that fail. Repairs never run side by side: they write. */
async function runChecks(names: readonly CheckName[], run: Run): Promise<CheckName[]> {
  const isBeside = (name: CheckName): boolean => !run.isWriting && names.length > 1 && !CHECKS[name].isAlone;
  const beside = names.filter(isBeside);
  const held = await sideBySide(beside, availableParallelism(), runBeside);
  const failed = beside.filter((_, index) => !held[index]);
  const alone = names.filter((name) => !isBeside(name));
  return [...failed, ...alone.filter((name) => !runAlone(name, run))];
}

async function main(args: readonly string[]): Promise<number> {
  const named = args.filter((arg) => !arg.startsWith("--"));
  const unknown = named.filter((name) => !isCheckName(name));
  if (unknown.length > 0) {
    console.error(`Cannot check ${unknown.join(", ")}: the checks are ${Object.keys(CHECKS).join(", ")}.`);
    return 1;
  }
  const names = named.length > 0 ? named.filter(isCheckName) : DEFAULT;
  const started = performance.now();
  const failed = await runChecks(names, { isWriting: args.includes("--write"), areNamed: named.length > 0 });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (names.length > 1) console.log(`\nall of it took ${seconds} s`);
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(", ")}`);
  console.log(`${names.length - failed.length} passed, ${failed.length} failed`);
  return failed.length > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
