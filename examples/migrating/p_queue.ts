import { Admission, CountingGate, Demand, ElasticWindowRateLimiter } from "../../mod.ts";

/** Stands for a request that heeds its signal. */
async function search(term: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  return await Promise.resolve(`results for ${term}`);
}

const workers = new CountingGate("search workers", 4); // concurrency
const window = new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: 100 }); // intervalCap, strict
const admission = new Admission({ maxQueue: 1_000 }).start();
const demand = new Demand().add(workers).add(window); // Both at once, or neither.

function find(term: string, signal: AbortSignal): Promise<string> {
  // 30 seconds for the work alone. The permits come back when it has really ended.
  const work = () => search(term, AbortSignal.any([signal, AbortSignal.timeout(30_000)]));
  return admission.run(demand, work, { signal });
}

const { signal } = new AbortController();
const began = performance.now();
const results = await Promise.all(Array.from({ length: 12 }, (_, n) => find(`term ${n}`, signal)));
console.log(results.length, performance.now() - began >= 99); // The eleventh waited for the first to be 100 ms old.
await admission.drain(); // queue.onIdle()
