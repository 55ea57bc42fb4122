import type { GateMaker } from "../gates/gate.ts";
import { GATES, NO_GATES } from "../gates/gates.ts";
import { nsEach } from "../timing.ts";
import type { Contender, Effort, Reading, Workload } from "../workload.ts";

/** How long the lines are in front of which one job ends. */
export const LINES: Workload["sizes"] = {
  tiny: [50],
  quick: [1_000, 100_000, 1_000_000],
  full: [1_000, 10_000, 100_000, 1_000_000],
};

/** One job ends in front of n that wait for one place. */
export const eventGate: Workload = {
  name: "event-gate",
  question: "What does it cost when one job ends and n wait for its place?",
  method:
    "The job ends, the oldest waiter hears that it has the place, and a new job joins the line: all three are timed.",
  units: { event: "ns" },
  sizes: LINES,
  contenders: { ...Object.fromEntries(Object.entries(GATES).map(contender)), ...NO_GATES },
};

function contender([name, maker]: [string, GateMaker]): [string, Contender] {
  return [name, { run: (effort) => events(maker, effort), most: maker.longestLine }];
}

async function events(maker: GateMaker, effort: Effort): Promise<Reading> {
  const gate = await maker.open();
  let hear = () => {};
  const onTurn = () => hear();
  await new Promise<void>((resolve) => gate.join(resolve));
  for (let i = 0; i < effort.size; i++) gate.join(onTurn);
  const event = await nsEach(async (count) => {
    for (let i = 0; i < count; i++) {
      const turn = new Promise<void>((resolve) => hear = resolve);
      gate.end();
      await turn;
      gate.join(onTurn);
    }
  }, effort);
  return { event };
}
