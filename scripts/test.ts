/**
 * `npm test [-- WORD] [--soak]`: kernel freshness, type checks, then every test file on Deno and on Bun.
 *
 * Both runtimes must know the same cases and give each the same verdict. The last line is always "N passed, N failed",
 * counted in cases: one passes when it passes on both; a file whose run breaks off counts as one failure. WORD narrows to the files whose path contains it.
 * `--fast` leaves out the files that say so, and tells which.
 */
import process from "node:process";
import { listFiles, ROOT, runTool } from "./support/project.ts";
import { isLeftOut } from "./support/plan_runs.ts";
import { type FileResult, runFiles, RUNTIMES } from "./support/run_tests.ts";
import {
  compareVerdicts,
  type Counts,
  countVerdicts,
  mergeVerdicts,
  type Verdicts,
} from "./support/verdicts.ts";
import { CHECKS } from "./support/checks.ts";

/** The folders in which test files may be. */
const FOLDERS = ["tests", "testing", "examples", "bench"];

function findTests(words: readonly string[]): string[] {
  const files = FOLDERS.flatMap((folder) => listFiles(ROOT, folder, (path) => path.endsWith("_test.ts")));
  return files.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
}

/** Runs what must hold before a test means anything; the name of the first check that fails, or null. */
function failedPrecheck(): string | null {
  for (const name of ["kernel", "types"] as const) {
    console.log(`checking ${name} ...`);
    for (const [command = "", ...args] of CHECKS[name].commands) {
      if (runTool(command, args).status !== 0) return name;
    }
  }
  return null;
}

/** The outcome over both runtimes: the cases' verdicts together, and what is wrong beyond failing cases. */
interface Outcome {
  readonly counts: Counts;
  readonly faults: readonly string[];
}

function judge(results: readonly FileResult[]): Outcome {
  const merged: Verdicts[] = [];
  const faults: string[] = [];
  let crashes = 0;
  for (const file of new Set(results.map((result) => result.file))) {
    const both = results.filter((result) => result.file === file);
    const [left, right] = both;
    const crashed = both.filter((each) => each.crash !== null);
    faults.push(...crashed.map((each) => `${file}: the run on ${each.runtime} ${each.crash}`));
    if (crashed.length > 0) crashes++;
    if (left === undefined || right === undefined || crashed.length > 0) continue;
    const lines = compareVerdicts([left.runtime, left.verdicts], [right.runtime, right.verdicts]);
    faults.push(...lines.map((line) => `${file}: verdicts differ: ${line}`));
    merged.push(mergeVerdicts(left.verdicts, right.verdicts));
  }
  const { passed, failed, skipped } = countVerdicts(merged);
  return { counts: { passed, failed: failed + crashes, skipped }, faults };
}

/** What was skipped, a line for each suite: its title says why. */
function skippedSuites(results: readonly FileResult[]): string[] {
  const suites = new Map<string, Set<string>>();
  for (const { file, verdicts } of results) {
    for (const [title, each] of verdicts) {
      if (!each.includes("skipped")) continue;
      const suite = `${file}: ${title.split(" > ")[0]}`;
      suites.set(suite, (suites.get(suite) ?? new Set()).add(title));
    }
  }
  return [...suites].map(([suite, titles]) => `skipped: ${titles.size} cases of ${suite}`);
}

function close({ passed, failed, skipped }: Counts): void {
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
}

/** The files that are run now; those that are left to another command are told. */
function chosenTests(args: readonly string[]): string[] {
  const files = findTests(args.filter((arg) => !arg.startsWith("--")));
  if (!args.includes("--fast")) return files;
  const leftOut = files.filter(isLeftOut);
  console.log(`left out, npm test runs them: ${leftOut.join(", ")}`);
  return files.filter((file) => !leftOut.includes(file));
}

async function main(args: readonly string[]): Promise<void> {
  const files = chosenTests(args);
  if (files.length === 0) {
    console.error(
      `Cannot test: no file in ${FOLDERS.join(", ")} ends in _test.ts and matches ${args.join(" ")}.`,
    );
    return close({ passed: 0, failed: 1, skipped: 0 });
  }
  const failed = args.includes("--no-prechecks") ? null : failedPrecheck();
  if (failed !== null) {
    console.error(`Cannot test: the check "${failed}" failed, its message is above.`);
    return close({ passed: 0, failed: 1, skipped: 0 });
  }
  console.log(`running ${files.length} test files on ${RUNTIMES.join(" and ")} ...`);
  const soak: Record<string, string> = args.includes("--soak")
    ? { SOAK: "1", TEST_CASE_LIMIT_MS: "3000000" }
    : {};
  // Long runs look at memory and time, and whoever names files wants to see each.
  const areTogether = !args.includes("--soak") && !args.some((arg) => !arg.startsWith("--"));
  const results = await runFiles(files, { env: soak, areTogether });
  const { counts, faults } = judge(results);
  for (const fault of faults) console.error(fault);
  for (const line of skippedSuites(results)) console.log(line);
  for (const runtime of RUNTIMES) {
    const own = results.filter((each) => each.runtime === runtime);
    const { passed, failed, skipped } = countVerdicts(own.map((each) => each.verdicts));
    console.log(`${runtime}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${own.length} files`);
  }
  close(counts);
}

await main(process.argv.slice(2));
