import { resolve } from "node:path";
import process from "node:process";
import { checkOutput, writeOutput } from "../examples/replay/output_file.ts";
import { userFolder } from "../examples/replay/runtimes.ts";
import { UserError } from "../examples/replay/user_error.ts";
import { figuresOf } from "./figures.ts";
import { installPeers } from "./install_peers.ts";
import { helpText, type Options, parseOptions } from "./options.ts";
import { planOf, titleOf } from "./plan.ts";
import { runRounds } from "./rounds.ts";
import { textReport } from "./text_report.ts";
import { writePage } from "./write_page.ts";
import { WORKLOADS } from "./workloads.ts";

/** @returns the exit status: 0, or 1 when the user or a contender was wrong */
export async function runBench(args: readonly string[]): Promise<number> {
  try {
    const names = WORKLOADS.map(({ name }) => name);
    const options = parseOptions(args, names);
    if (options.wantsHelp) {
      process.stdout.write(helpText(names));
      return 0;
    }
    return await measureAndReport(options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

async function measureAndReport(options: Options): Promise<number> {
  const json = options.json === null
    ? null
    : { path: resolve(userFolder(), options.json), shownAs: options.json };
  if (json !== null) checkOutput(json);
  installPeers(tell);
  const plan = planOf(WORKLOADS, options);
  const { readings, failures } = await runRounds(plan.tasks, options.effort, progressLine());
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  const figures = figuresOf(readings);
  if (json !== null) writeOutput(json, `${JSON.stringify(figures, null, 1)}\n`);
  const failed = new Set(
    failures.filter(({ task }) => task.contender === "sluice")
      .map(({ task }) => `${task.runtime} ${titleOf(task.workload.name, task.size)}`),
  );
  process.stdout.write(textReport(figures, { plan, options, workloads: WORKLOADS, failed }));
  if (options.isWriting) {
    writePage({ figures, absences: plan.absences, workloads: WORKLOADS, effort: options.effort, failed });
    tell("Refreshed docs/performance.md and docs/performance/.");
  }
  for (const { task, message } of failures) {
    process.stderr.write(
      `FAILED ${task.runtime} ${titleOf(task.workload.name, task.size)} ${task.contender}: ${message}\n`,
    );
  }
  return failures.length > 0 ? 1 : 0;
}

/** A line that renews itself on a terminal; elsewhere every twentieth is told. */
function progressLine(): (text: string) => void {
  let told = 0;
  return (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K`);
    else if (told++ % 20 === 0) tell(text);
  };
}

function tell(text: string): void {
  process.stderr.write(`${text}\n`);
}
