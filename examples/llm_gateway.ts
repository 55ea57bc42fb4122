/** `npm run gateway`: a gateway in front of a provider of models, under load, with Sluice and without. See docs/fetch.md. */
import process from "node:process";
import { runCli } from "./llm_gateway/cli.ts";

process.exitCode = await runCli(process.argv.slice(2));
