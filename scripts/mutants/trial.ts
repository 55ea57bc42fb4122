/** Runs the cases that name some rules in one copy of the sources, and says which of them failed. */
import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { toolEnvironment } from "../support/project.ts";
import { readJUnit, type Verdicts } from "../support/verdicts.ts";

/** A fault may make the sources loop for ever; this is ten times what the slowest file takes. */
export const LIMIT_MS = 30_000;

/** What the cases of one file said. */
export interface Trial {
  /** Titles of the cases that failed. */
  readonly failed: readonly string[];
  /** How many cases ran to a verdict. */
  readonly ran: number;
  /** The case that ran when the time was up; null when the run ended by itself. */
  readonly hung: string | null;
  readonly output: string;
}

/** Runs the cases of one test file whose title names one of the rules. */
export function tryFile(root: string, file: string, rules: readonly string[]): Promise<Trial> {
  const report = join(root, "report.xml");
  rmSync(report, { force: true });
  const filter = `--filter=/\\b(${rules.join("|")})\\b/`;
  const args = ["test", "-A", "--no-check", filter, `--junit-path=${report}`, file];
  return new Promise((resolve) => {
    const child = spawn("deno", args, {
      cwd: root,
      env: toolEnvironment({ NO_COLOR: "1", TEST_CASE_LIMIT_MS: String(LIMIT_MS / 2) }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => output += chunk);
    child.stderr.on("data", (chunk) => output += chunk);
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, LIMIT_MS);
    child.on("error", (error) => output += `deno did not start: ${error.message}`);
    child.on("close", () => {
      clearTimeout(limit);
      const verdicts = readReport(report);
      const titles = [...verdicts].filter(([, each]) => each.includes("failed")).map(([title]) => title);
      const ran = [...verdicts.values()].flat().filter((verdict) => verdict !== "skipped").length;
      resolve({ failed: titles, ran, hung: isLate ? lastStarted(output, rules) : null, output });
    });
  });
}

function readReport(path: string): Verdicts {
  try {
    return readJUnit(readFileSync(path, "utf8"));
  } catch {
    return new Map();
  }
}

/** The title of the case that had started and not ended. */
function lastStarted(output: string, rules: readonly string[]): string {
  const lines = output.split("\n").filter((line) => rules.some((rule) => line.includes(rule)));
  return (lines.at(-1) ?? "no case had started").replace(/ \.\.\..*$/, "");
}
