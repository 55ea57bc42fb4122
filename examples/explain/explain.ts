/** `npm run explain`: what admission decides in a small scenario, event by event. See docs/deciding.md. */
import process from "node:process";
import { runCli } from "./cli.ts";

process.exitCode = await runCli(process.argv.slice(2));
