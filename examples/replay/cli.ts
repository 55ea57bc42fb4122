import { extname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { generateTrace } from "./generate_trace.ts";
import type { Replay } from "./job.ts";
import { jobLines } from "./job_lines.ts";
import { runOneAfterAnother } from "./one_after_another.ts";
import { HELP, type Options, parseOptions } from "./options.ts";
import { checkOutput, isSameFile, type OutputFile, writeOutput } from "./output_file.ts";
import { drawPlot, PLOT_COLUMNS } from "./plot.ts";
import { runProgram } from "./program.ts";
import { progressMeter } from "./progress_meter.ts";
import { readTrace } from "./read_trace.ts";
import { currentRuntime, runOn, runtimeTitle, userFolder } from "./runtimes.ts";
import { summarise } from "./summary.ts";
import { headerText, resultText } from "./table.ts";
import { runThroughSluice } from "./through_sluice.ts";
import { UserError } from "./user_error.ts";

/**
 * The program behind `npm run replay` and `npm run demo`.
 * @param args the command line after the script
 * @returns the exit status: 0, or 1 after an error that is the user's to put right, told on stderr
 */
export function runCli(args: readonly string[]): Promise<number> {
  return runProgram(async () => {
    const options = parseOptions(args);
    if (options.wantsHelp) {
      process.stdout.write(HELP);
      return 0;
    }
    if (options.runtime !== null && options.runtime !== currentRuntime()) {
      return runOn(options.runtime, fileURLToPath(new URL("./replay.ts", import.meta.url)), args);
    }
    await replayAndReport(options);
    return 0;
  });
}

async function replayAndReport(options: Options): Promise<void> {
  const outputs = outputsOf(options);
  const replay: Replay = { trace: traceOf(options), limits: options.limits };
  process.stdout.write(`${headerText(replay, runtimeTitle())}\n`);
  const meter = progressMeter(process.stderr, replay.trace.rows.length);
  const { jobs } = await runThroughSluice(replay, meter);
  const stepping = runOneAfterAnother(replay);
  const summary = summarise(replay, { sluice: jobs, stepping, columnCount: PLOT_COLUMNS });
  process.stdout.write(`${resultText(summary)}\n`);
  if (outputs.json !== null) {
    writeOutput(outputs.json, jobLines(replay, jobs));
    process.stdout.write(`Jobs: ${outputs.json.path}\n`);
  }
  writeOutput(outputs.plot, drawPlot(replay, summary));
  process.stdout.write(`Plot: ${outputs.plot.path}\n`);
}

function traceOf({ file, seed }: Options): Replay["trace"] {
  return file === null ? generateTrace(seed) : readTrace(resolve(userFolder(), file), file);
}

function outputsOf(options: Options): { json: OutputFile | null; plot: OutputFile } {
  const toOutput = (shownAs: string): OutputFile => ({ path: resolve(userFolder(), shownAs), shownAs });
  const json = options.json === null ? null : toOutput(options.json);
  const plot = toOutput(options.plot ?? defaultPlot(options.json));
  for (const output of json === null ? [plot] : [json, plot]) {
    checkOutput(output);
    if (options.file !== null && isSameFile(output.path, resolve(userFolder(), options.file))) {
      throw new UserError(`Cannot write ${output.shownAs}: it is the trace itself, name another file.`);
    }
  }
  if (json !== null && isSameFile(json.path, plot.path)) {
    throw new UserError(
      `Cannot write ${json.shownAs}: it is meant for both the jobs and the plot, name two files.`,
    );
  }
  return { json, plot };
}

/** Next to the JSON under its name, otherwise where the user stands. */
function defaultPlot(json: string | null): string {
  if (json === null) return "replay.svg";
  const stem = json.slice(0, json.length - extname(json).length);
  return `${stem}.svg` === json ? `${json}.svg` : `${stem}.svg`;
}
