import { Admission, CountingGate, Demand } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

/** How long twenty urgent jobs wait at most beside a batch of four hundred, in ms. There are four places, 100 ms for each job. */
async function longestWait(way: "one line" | "two lines" | "a place kept free"): Promise<number> {
  const clock = new ManualClock();
  const work = () => new Promise<void>((done) => clock.setTimer(100, done));
  const pool = new CountingGate("pool", 4);
  const batch = new Admission({ memory: null, clock }).start();
  const urgent = way === "one line" ? batch : new Admission({ memory: null, clock }).start();
  const urgentDemand = new Demand().add(pool);
  const batchDemand = new Demand().add(pool);
  if (way === "a place kept free") batchDemand.add(new CountingGate("places of the batch", 3));

  const jobs = Array.from({ length: 400 }, () => batch.run(batchDemand, work));
  const waits: number[] = [];
  for (let i = 0; i < 20; i++) {
    await clock.advance(103);
    jobs.push(urgent.run(urgentDemand, ({ wallWaitMs }) => (waits.push(wallWaitMs), work())));
  }
  await clock.advance(20_000);
  await Promise.all(jobs);
  return Math.max(...waits);
}

for (const way of ["one line", "two lines", "a place kept free"] as const) {
  console.log(`${way}: ${await longestWait(way)} ms`);
}
