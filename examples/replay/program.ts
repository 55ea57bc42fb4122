import process from "node:process";
import { UserError } from "./user_error.ts";

/**
 * Runs a program of the command line.
 * @param run answers the exit status
 * @returns that status, or 1 after an error that is the user's to put right, told on stderr
 */
export async function runProgram(run: () => number | Promise<number>): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", passOverClosedPipe);
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

/** Whoever reads the output may stop reading, as `head` does: the program runs on all the same. */
function passOverClosedPipe(error: Error): void {
  if (!("code" in error && error.code === "EPIPE")) throw error;
}
