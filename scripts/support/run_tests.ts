/**
 * Runs test files on both runtimes, most of them several to a process, and gathers a verdict for every case.
 *
 * What a process of several files says counts only when it ends well and each of them passed. Otherwise each runs again alone, so
 * that a failure, a crash or a time-out is told of its file; and when they all pass alone, the failure is that they do not together.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { planRuns } from "./plan_runs.ts";
import { ROOT, toolEnvironment } from "./project.ts";
import { sideBySide } from "./side_by_side.ts";
import { countVerdicts, readJUnit, splitVerdicts, type Verdicts } from "./verdicts.ts";

/** The runtimes that every test file must pass on. */
export const RUNTIMES = ["deno", "bun"] as const;
/** One of the runtimes. */
export type Runtime = (typeof RUNTIMES)[number];

/** What became of one file on one runtime. */
export interface FileResult {
  /** Its path; where files failed only together, all of theirs. */
  readonly file: string;
  readonly runtime: Runtime;
  readonly verdicts: Verdicts;
  /** The runner ended in a way that its verdicts do not explain: a file that does not load, a crash, a time-out. */
  readonly crash: string | null;
}

/** A process that takes longer than this is stopped; the second limit is that of long runs. */
const LIMIT_MS = 10 * 60_000;
const SOAK_LIMIT_MS = 60 * 60_000;

/** The program that loads several files. */
const BATCH = join(ROOT, "tests", "batch.ts");
/**
 * Beside four kernels that are not collected yet, Bun collects all garbage for each further one, which costs more in a process
 * that has loaded many files: a third of all that Bun computes for them (measured on Bun 1.4.5, 2026-11-30).
 */
const BATCH_ENV = { BUN_JSC_maxNumWasmFastMemories: "30" };

function command(runtime: Runtime, path: string, report: string): string[] {
  if (runtime === "deno") return ["deno", "test", "-A", "--no-check", `--junit-path=${report}`, path];
  return ["bun", "test", "--timeout=3600000", "--reporter=junit", `--reporter-outfile=${report}`, path];
}

/** How files are run. */
export interface RunOptions {
  /** Further environment variables. */
  readonly env?: Record<string, string>;
  /** The folder the files' paths start from; the project's root when left out. */
  readonly cwd?: string;
  /** Say nothing: for tests that plant failures. */
  readonly isSilent?: boolean;
  /** A process that takes longer, in ms, is stopped: 10 minutes when left out, an hour for long runs. */
  readonly limitMs?: number;
}

/** Runs one file on one runtime. */
export async function runFile(runtime: Runtime, file: string, options: RunOptions = {}): Promise<FileResult> {
  const { ended, verdicts, seconds } = await run(runtime, `./${file}`, options);
  const { passed, failed, skipped } = countVerdicts([verdicts]);
  const isExplained = ended.status === 0 ? failed === 0 : failed > 0;
  const crash = isExplained && passed + failed + skipped > 0
    ? null
    : options.isSilent
    ? `${ended.reason}:\n${ended.output}`
    : ended.reason;
  if (!options.isSilent) {
    tell(runtime, file, [verdicts], seconds);
    if (failed > 0 || crash !== null) console.log(ended.output.replace(/\n*$/, "\n"));
  }
  return { file, runtime, verdicts, crash };
}

/** Runs several files in one process; the result of each, and one more where they fail only together. */
export async function runTogether(
  runtime: Runtime,
  files: readonly string[],
  options: RunOptions = {},
): Promise<FileResult[]> {
  const env = { ...options.env, ...BATCH_ENV, TEST_BATCH: JSON.stringify(files) };
  const { ended, verdicts, seconds } = await run(runtime, BATCH, { ...options, env });
  const parts = splitVerdicts(verdicts, files);
  if (ended.status === 0 && files.every((file) => isClean(parts.get(file)))) {
    if (!options.isSilent) tell(runtime, `${files.length} files`, [...parts.values()], seconds);
    return files.map((file) => ({ file, runtime, verdicts: parts.get(file)!, crash: null }));
  }
  if (!options.isSilent) {
    console.log(`${runtime} ${files.length} files together: ${ended.reason}, each runs again alone`);
  }
  const alone: FileResult[] = [];
  for (const file of files) alone.push(await runFile(runtime, file, options));
  if (!alone.every((each) => each.crash === null && isClean(each.verdicts))) return alone;
  const crash = `in one process ${ended.reason}, though each file passes alone:\n${ended.output}`;
  return [...alone, { file: files.join(" + "), runtime, verdicts: new Map(), crash }];
}

/** Whether there are cases, and none that failed. */
function isClean(verdicts: Verdicts = new Map()): boolean {
  return verdicts.size > 0 && countVerdicts([verdicts]).failed === 0;
}

function tell(runtime: Runtime, what: string, verdicts: readonly Verdicts[], seconds: string): void {
  const { passed, failed, skipped } = countVerdicts(verdicts);
  const skips = skipped > 0 ? `, ${skipped} skipped` : "";
  console.log(`${runtime.padEnd(4)} ${what}: ${passed} passed, ${failed} failed${skips} (${seconds} s)`);
}

interface Run {
  readonly ended: Ended;
  readonly verdicts: Verdicts;
  readonly seconds: string;
}

async function run(runtime: Runtime, path: string, options: RunOptions): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
  const report = join(folder, "report.xml");
  const started = performance.now();
  const ended = await runToEnd(command(runtime, path, report), options);
  const verdicts = readReport(report);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  return { ended, verdicts, seconds: ((performance.now() - started) / 1000).toFixed(1) };
}

function readReport(path: string): Verdicts {
  try {
    return readJUnit(readFileSync(path, "utf8"));
  } catch {
    return new Map();
  }
}

interface Ended {
  readonly status: number;
  readonly reason: string;
  readonly output: string;
}

function runToEnd([name = "", ...args]: string[], options: RunOptions): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(name, args, {
      cwd: options.cwd ?? ROOT,
      env: toolEnvironment({ NO_COLOR: "1", ...options.env }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => output += chunk);
    child.stderr.on("data", (chunk) => output += chunk);
    let isLate = false;
    const limitMs = options.limitMs ?? (options.env?.["SOAK"] === "1" ? SOAK_LIMIT_MS : LIMIT_MS);
    const limit = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, limitMs);
    child.on("error", (error) => resolve({ status: 1, reason: `did not start: ${error.message}`, output }));
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      const reason = isLate
        ? `ran longer than ${limitMs / 60_000} minutes`
        : `ended with ${signal ?? `status ${code}`}`;
      resolve({ status: code ?? 1, reason, output });
    });
  });
}

/** Runs all files on both runtimes, a process more at a time than there are processors: some wait for servers and timers. */
export async function runFiles(
  files: readonly string[],
  options: RunOptions & { readonly areTogether: boolean },
): Promise<FileResult[]> {
  const groups = options.areTogether ? planRuns(files) : files.map((file) => [file]);
  const runs = groups.flatMap((group) => RUNTIMES.map((runtime) => ({ group, runtime })));
  const width = Math.max(2, availableParallelism()) + (options.areTogether ? 1 : 0);
  const results = await sideBySide(
    runs,
    width,
    async ({ group, runtime }) =>
      group.length === 1
        ? [await runFile(runtime, group[0]!, options)]
        : await runTogether(runtime, group, options),
  );
  return results.flat();
}
