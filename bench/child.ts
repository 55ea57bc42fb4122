// Runs contenders of workloads, each once, and prints a line of JSON for each: its reading, or its failure. The bench starts it.
import process from "node:process";
import { type EffortName, EFFORTS, type Reading, runAt } from "./workload.ts";
import { WORKLOADS } from "./workloads.ts";

/** What the bench asks for. */
export interface Errand {
  readonly workload: string;
  readonly contender: string;
  readonly size: number;
}

/** What came of it. */
export type Report = { readonly reading: Reading } | { readonly failure: string };

async function run({ workload, contender, size }: Errand, name: EffortName): Promise<Reading> {
  const found = WORKLOADS.find((each) => each.name === workload)?.contenders[contender];
  if (found === undefined) throw new Error(`no contender ${contender} in ${workload}`);
  const how = runAt(found, size);
  if (typeof how !== "function") throw new Error(how.cannot);
  return await how({ ...EFFORTS[name], name, size });
}

function tell(report: Report): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

if (import.meta.main) {
  const [effort = "", errands = ""] = process.argv.slice(2);
  for (const errand of JSON.parse(errands) as Errand[]) {
    try {
      tell({ reading: await run(errand, effort as EffortName) });
    } catch (error) {
      tell({ failure: error instanceof Error ? error.stack ?? error.message : String(error) });
    }
  }
  // Whoever still waits would keep the process alive.
  process.stdout.write("", () => process.exit(0));
}
