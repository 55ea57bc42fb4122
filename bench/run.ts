// The first figures: what one admit costs, and what a line costs. Ratios within one run count; the machine's speed does not.

import { Admission, CountingGate, Demand, type Grant, TokenBucketRateLimiter } from "../mod.ts";
import { type Body, measure, printFigures } from "./measure.ts";
import { PlainSemaphore } from "./plain_semaphore.ts";

const HUGE = 2 ** 40;

/** What one grant costs with nobody waiting. */
async function fastPath(): Promise<void> {
  const plain = new PlainSemaphore(2);
  const admission = new Admission({ memory: null }).start();
  const gate = new CountingGate("http", 2);
  const one = new Demand().add(gate);
  const bucket = new TokenBucketRateLimiter("model", { tpm: HUGE, rpm: HUGE });
  const three = new Demand().add(bucket, 10).add(gate).add(new CountingGate("db", 2));
  const tried: ReadonlyMap<string, Body> = new Map<string, Body>([
    ["plain semaphore", (count) => times(count, () => plain.release(plain.tryAcquire()!))],
    ["one gate", (count) => times(count, () => admission.release(admission.tryAdmit(one)!))],
    ["two gates and a bucket", (count) => times(count, () => admission.release(admission.tryAdmit(three)!))],
  ]);
  printFigures("tryAdmit + release", await measure(tried, 200_000));
  const awaited: ReadonlyMap<string, Body> = new Map<string, Body>([
    ["plain semaphore", (count) => timesAwaited(count, async () => plain.release(await plain.acquire()))],
    ["one gate", (count) => timesAwaited(count, async () => admission.release(await admission.admit(one)))],
    [
      "two gates and a bucket",
      (count) => timesAwaited(count, async () => admission.release(await admission.admit(three))),
    ],
  ]);
  printFigures("await admit + release", await measure(awaited, 100_000));
}

function times(count: number, body: () => void): void {
  for (let i = 0; i < count; i++) body();
}

async function timesAwaited(count: number, body: () => Promise<void>): Promise<void> {
  for (let i = 0; i < count; i++) await body();
}

/** A line on one gate, drained one by one; ns per waiter. */
async function drains(waiting: number): Promise<void> {
  const bodies: ReadonlyMap<string, Body> = new Map<string, Body>([
    ["plain semaphore", async (count) => {
      const plain = new PlainSemaphore(1);
      const held = await plain.acquire();
      const done = Array.from({ length: count }, async () => plain.release(await plain.acquire()));
      plain.release(held);
      await Promise.all(done);
    }],
    ["one gate", async (count) => {
      const admission = new Admission({ memory: null }).start();
      const demand = new Demand().add(new CountingGate("gate", 1));
      const held = await admission.admit(demand);
      const done = Array.from(
        { length: count },
        async () => admission.release(await admission.admit(demand)),
      );
      admission.release(held);
      await Promise.all(done);
    }],
  ]);
  printFigures(
    `${waiting.toLocaleString("en")} waiters on one gate, drained one by one, each`,
    await measure(bodies, waiting, 3),
  );
}

/** A pass over many waiters that admits one; ns per pass. */
async function passes(waiting: number): Promise<void> {
  const admission = new Admission({ memory: null }).start();
  const gate = new CountingGate("gate", 1);
  const demand = new Demand().add(gate);
  const grants: Grant[] = [await admission.admit(demand)];
  for (let i = 0; i < waiting; i++) void admission.admit(demand).then((grant) => grants.push(grant));
  await Promise.resolve();
  const body: Body = async (count) => {
    for (let i = 0; i < count; i++) {
      admission.release(grants.pop()!);
      while (grants.length === 0) await Promise.resolve();
    }
  };
  printFigures(
    `a release that admits one of ${waiting.toLocaleString("en")}`,
    await measure(new Map([["one gate", body]]), 50, 5),
  );
}

await fastPath();
await drains(10_000);
await passes(10_000);
