/**
 * `npm run ok [-- NAME...]`: all checks, or the named ones, each with its time; `--write` repairs what can be repaired.
 *
 * Every check runs even when an earlier one failed, so that one run tells everything. The last line counts checks.
 */
import process from "node:process";
import { type CheckName, CHECKS } from "./support/checks.ts";
import { runTool } from "./support/project.ts";

/** What runs without a name given: everything but the packed smoke, which installs things. */
const DEFAULT: readonly CheckName[] = [
  "fmt",
  "lint",
  "kernel",
  "types",
  "tidy",
  "docs",
  "rules",
  "tests",
  "publish",
];

function isCheckName(name: string): name is CheckName {
  return Object.hasOwn(CHECKS, name);
}

/** Runs one check; true when it holds. */
function runCheck(name: CheckName, isWriting: boolean): boolean {
  const check = CHECKS[name];
  console.log(`\n== ${name}: ${check.what}`);
  const started = performance.now();
  const commands = isWriting && check.repair ? check.repair : check.commands;
  const holds = commands.every(([command = "", ...args]) => runTool(command, args).status === 0);
  console.log(
    `== ${name}: ${holds ? "ok" : "FAILED"} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  );
  return holds;
}

function main(args: readonly string[]): number {
  const named = args.filter((arg) => !arg.startsWith("--"));
  const unknown = named.filter((name) => !isCheckName(name));
  if (unknown.length > 0) {
    console.error(`Cannot check ${unknown.join(", ")}: the checks are ${Object.keys(CHECKS).join(", ")}.`);
    return 1;
  }
  const names = named.length > 0 ? named.filter(isCheckName) : DEFAULT;
  const failed = names.filter((name) => !runCheck(name, args.includes("--write")));
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(", ")}`);
  console.log(`${names.length - failed.length} passed, ${failed.length} failed`);
  return failed.length > 0 ? 1 : 0;
}

process.exitCode = main(process.argv.slice(2));
