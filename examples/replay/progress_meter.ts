import type { Progress } from "./job.ts";
import { grouped } from "./format.ts";

/** Where progress is written: `process.stderr` is one. */
export interface ProgressSink {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/**
 * Tells on a sink how many of all are done, jobs unless said otherwise: a line that renews itself on a terminal, at every
 * percent; a line for each quarter elsewhere.
 */
export function progressMeter(sink: ProgressSink, total: number, what = "jobs through"): Progress {
  const isTerminal = sink.isTTY === true;
  const steps = isTerminal ? 100 : 4;
  let shownSteps = 0;
  return (done) => {
    const reached = Math.floor((done * steps) / total);
    if (reached === shownSteps) return;
    shownSteps = reached;
    const text = `  ${grouped(done)} of ${grouped(total)} ${what} (${Math.floor((done * 100) / total)} %)`;
    if (!isTerminal) sink.write(`${text}\n`);
    else sink.write(done === total ? "\r\u001b[K" : `\r${text}\u001b[K`);
  };
}
