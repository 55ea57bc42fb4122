import process from "node:process";
import { fileURLToPath } from "node:url";
import { runProgram } from "../replay/program.ts";
import { progressMeter } from "../replay/progress_meter.ts";
import { currentRuntime, runOn, runtimeTitle } from "../replay/runtimes.ts";
import { HELP, type Options, parseOptions } from "./options.ts";
import { brokenPromises, headerText, type Sides, tableText } from "./report.ts";
import { runSide, sceneOf } from "./trial.ts";

/**
 * The program behind `npm run gateway`.
 * @param args the command line after the script
 * @returns the exit status: 0, or 1 when a promise does not hold or the command line is wrong, told on stderr
 */
export function runCli(args: readonly string[]): Promise<number> {
  return runProgram(() => {
    const options = parseOptions(args);
    if (options.wantsHelp) {
      process.stdout.write(HELP);
      return 0;
    }
    if (options.runtime !== null && options.runtime !== currentRuntime()) {
      return runOn(options.runtime, fileURLToPath(new URL("../llm_gateway.ts", import.meta.url)), args);
    }
    return runAndReport(options);
  });
}

async function runAndReport(options: Options): Promise<number> {
  const scene = sceneOf(options);
  process.stdout.write(`${headerText(scene, options, runtimeTitle())}\n`);
  const stopMeter = startMeter(options.seconds);
  let sides: Sides;
  try {
    sides = { sluice: await runSide(scene, options, true), plain: await runSide(scene, options, false) };
  } finally {
    stopMeter();
  }
  process.stdout.write(tableText(sides));
  const broken = brokenPromises(sides.sluice, options);
  for (const promise of broken) process.stderr.write(`Promise broken: ${promise}.\n`);
  return broken.length > 0 ? 1 : 0;
}

/** Tells on stderr how much of the time has passed. Answers what ends that. */
function startMeter(seconds: number): () => void {
  const tell = progressMeter(process.stderr, seconds, "seconds run");
  let passed = 0;
  const timer = setInterval(() => tell(Math.min(++passed, seconds)), 1000);
  return () => {
    clearInterval(timer);
    tell(seconds);
  };
}
