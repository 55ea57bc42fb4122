/** Runs test files, one process for each file and runtime, and gathers a verdict for every case. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, toolEnvironment } from "./project.ts";
import { sideBySide } from "./side_by_side.ts";
import { countVerdicts, readJUnit, type Verdicts } from "./verdicts.ts";

/** The runtimes that every test file must pass on. */
export const RUNTIMES = ["deno", "bun"] as const;
/** One of the runtimes. */
export type Runtime = (typeof RUNTIMES)[number];

/** What became of one file on one runtime. */
export interface FileResult {
  readonly file: string;
  readonly runtime: Runtime;
  readonly verdicts: Verdicts;
  /** The runner ended in a way that its verdicts do not explain: a file that does not load, a crash, a time-out. */
  readonly crash: string | null;
}

/** A file that takes longer than this is stopped; the second limit is that of long runs. */
const FILE_LIMIT_MS = 10 * 60_000;
const SOAK_FILE_LIMIT_MS = 60 * 60_000;

function command(runtime: Runtime, file: string, report: string): string[] {
  if (runtime === "deno") return ["deno", "test", "-A", "--no-check", `--junit-path=${report}`, file];
  return [
    "bun",
    "test",
    "--timeout=3600000",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    `./${file}`,
  ];
}

/** How a file is run. */
export interface RunOptions {
  /** Further environment variables. */
  readonly env?: Record<string, string>;
  /** The folder the file's path starts from; the project's root when left out. */
  readonly cwd?: string;
  /** Say nothing: for tests that plant failures. */
  readonly isSilent?: boolean;
}

/** Runs one file on one runtime. */
export async function runFile(runtime: Runtime, file: string, options: RunOptions = {}): Promise<FileResult> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
  const report = join(folder, "report.xml");
  const started = performance.now();
  const ended = await runToEnd(command(runtime, file, report), options);
  const verdicts = readReport(report);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  const { passed, failed, skipped } = countVerdicts([verdicts]);
  const isExplained = ended.status === 0 ? failed === 0 : failed > 0;
  const crash = isExplained && passed + failed + skipped > 0
    ? null
    : options.isSilent
    ? `${ended.reason}:\n${ended.output}`
    : ended.reason;
  if (!options.isSilent) {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const skips = skipped > 0 ? `, ${skipped} skipped` : "";
    console.log(`${runtime.padEnd(4)} ${file}: ${passed} passed, ${failed} failed${skips} (${seconds} s)`);
    if (failed > 0 || crash !== null) console.log(ended.output.replace(/\n*$/, "\n"));
  }
  return { file, runtime, verdicts, crash };
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
    const limitMs = options.env?.["SOAK"] === "1" ? SOAK_FILE_LIMIT_MS : FILE_LIMIT_MS;
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

/** Runs all files on both runtimes, as many at a time as there are processors, and at least two. Results in order of the files. */
export async function runFiles(files: readonly string[], env: Record<string, string>): Promise<FileResult[]> {
  const runs = files.flatMap((file) => RUNTIMES.map((runtime) => ({ file, runtime })));
  const width = Math.max(2, availableParallelism());
  return await sideBySide(runs, width, ({ file, runtime }) => runFile(runtime, file, { env }));
}
