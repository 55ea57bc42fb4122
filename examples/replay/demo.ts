/** `npm run demo`: a replay of made-up bursty traffic, which needs no file. See docs/replay.md. */
import process from "node:process";
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2));
