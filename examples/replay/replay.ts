/** `npm run replay -- FILE [options]`: replays a trace of LLM traffic through Sluice. See docs/replay.md. */
import process from "node:process";
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2));
