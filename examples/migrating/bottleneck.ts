import { Admission, CountingGate, Demand, ElasticWindowRateLimiter } from "../../mod.ts";

/** Stands for a request. */
async function ask(question: string): Promise<string> {
  return await Promise.resolve(`an answer to ${question}`);
}

const places = new CountingGate("places", 5); // maxConcurrent
const spacing = new ElasticWindowRateLimiter("spacing", { maxRequests: 1, baseWindowMs: 20 }); // minTime
const perMinute = new ElasticWindowRateLimiter("quota", { maxRequests: 100, baseWindowMs: 60_000 }); // reservoir
const admission = new Admission({ maxQueue: 1_000 }).start(); // highWater, OVERFLOW
const demandOf = (weight: number) => new Demand().add(places, weight).add(spacing).add(perMinute, weight);

const began = performance.now();
const questions = ["one", "two", "three", "four"];
const answers = await Promise.all(
  questions.map((question, n) => admission.run(demandOf(n === 0 ? 2 : 1), () => ask(question)) // The first weighs as much as two.
  ),
);
console.log(answers.length, performance.now() - began >= 59); // Each started 20 ms after the one before.
console.log(perMinute.status.summary());
admission.stop(); // Whoever still waits is refused, and so is everybody from now on.
await admission.drain(); // Resolves when what was running is done.
