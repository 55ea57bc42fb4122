// Runs one contender of one workload once, and prints its reading as a line of JSON. The bench starts it.
import process from "node:process";
import { type EffortName, EFFORTS, runAt } from "./workload.ts";
import { WORKLOADS } from "./workloads.ts";

const [workloadName, contenderName, effortName, sizeText] = process.argv.slice(2);
const contender = WORKLOADS.find(({ name }) => name === workloadName)?.contenders[contenderName ?? ""];
if (contender === undefined) throw new Error(`no contender ${contenderName} in ${workloadName}`);
const size = Number(sizeText);
const run = runAt(contender, size);
if (typeof run !== "function") throw new Error(run.cannot);
const name = effortName as EffortName;
const reading = await run({ ...EFFORTS[name], name, size });
process.stdout.write(`${JSON.stringify(reading)}\n`, () => process.exit(0));
