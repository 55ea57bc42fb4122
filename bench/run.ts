/** `npm run bench [-- options]`: what admission costs, beside its peers. See docs/performance.md. */
import process from "node:process";
import { runBench } from "./bench.ts";

process.exitCode = await runBench(process.argv.slice(2));
