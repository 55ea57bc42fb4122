import { Admission, CountingGate, Demand } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

/** How long urgent jobs wait at most beside a batch, ms, when the batch may have so many of the four places. */
async function longestWait(ofBatch: number): Promise<number> {
  const clock = new ManualClock();
  const work = () => new Promise<void>((done) => clock.setTimer(100, done));
  const pool = new CountingGate("pool", 4);
  const batch = new Admission({ memory: null, clock }).start();
  const urgent = new Admission({ memory: null, clock }).start(); // A line of its own, without the batch in front.
  const batchDemand = new Demand().add(new CountingGate("places of the batch", ofBatch)).add(pool);
  const urgentDemand = new Demand().add(pool);

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

console.log(await longestWait(4)); // The pool is shared, and nothing is kept free for the urgent.
console.log(await longestWait(3)); // One place is never the batch's.
