import { Admission, CountingGate, Demand, TokenBucketRateLimiter } from "../../mod.ts";
import { openMutexSemaphore } from "../gates/async_mutex.ts";
import { openSema } from "../gates/async_sema.ts";
import { openBottleneck } from "../gates/bottleneck.ts";
import { openBulkhead } from "../gates/cockatiel.ts";
import type { EffectModule } from "../gates/effect.ts";
import { openLimit } from "../gates/p_limit.ts";
import { openQueue } from "../gates/p_queue.ts";
import { loadPeer } from "../peers.ts";
import { type Body, nsEach } from "../timing.ts";
import { type Contender, NO_SIZE, type Workload } from "../workload.ts";

/** A job that needs two places and some tokens. */
export const awaitThree: Workload = {
  name: "await-three",
  question: "What does a job with three limits cost?",
  method:
    "Two gates and ten tokens of a bucket that never runs dry. Sluice takes them in one step; the peers have to be " +
    "stacked and taken one after another, the places first.",
  units: { job: "ns" },
  sizes: NO_SIZE,
  contenders: {
    "sluice": timed(sluiceJobs),
    "async-sema + limiter": timed(semaAndLimiter),
    "async-sema + rate-limiter-flexible": timed(semaAndFlexible),
    "async-mutex + limiter": timed(mutexAndLimiter),
    "p-limit + limiter": timed(limitAndLimiter),
    "p-limit + p-throttle": timed(limitAndThrottle),
    "p-queue + limiter": timed(queueAndLimiter),
    "cockatiel + limiter": timed(bulkheadAndLimiter),
    "effect + limiter": timed(effectAndLimiter),
    "bottleneck": timed(bottlenecks),
  },
};

/** Places of each gate, tokens of one job, and tokens a minute that never run out. */
const PLACES = 2;
const TOKENS = 10;
const PLENTY = 2 ** 40;

function timed(open: () => Promise<Body> | Body): Contender {
  return async (effort) => ({ job: await nsEach(await open(), effort) });
}

function repeat(job: () => Promise<unknown>): Body {
  return async (count) => {
    for (let i = 0; i < count; i++) await job();
  };
}

function sluiceJobs(): Body {
  const admission = new Admission({ memory: null }).start();
  const demand = new Demand()
    .add(new TokenBucketRateLimiter("model", { tpm: PLENTY, rpm: PLENTY }), TOKENS)
    .add(new CountingGate("http", PLACES))
    .add(new CountingGate("db", PLACES));
  return repeat(async () => admission.release(await admission.admit(demand)));
}

/** A bucket of limiter that never runs dry, for the stacks. */
export async function openLimiter(): Promise<{ removeTokens(count: number): Promise<number> }> {
  const { RateLimiter } = await loadPeer<
    { RateLimiter: new (options: object) => { removeTokens(count: number): Promise<number> } }
  >("limiter");
  return new RateLimiter({ tokensPerInterval: PLENTY, interval: "minute" });
}

async function semaAndLimiter(): Promise<Body> {
  const [http, db, tokens] = [await openSema(PLACES), await openSema(PLACES), await openLimiter()];
  return repeat(async () => {
    await http.acquire();
    await db.acquire();
    await tokens.removeTokens(TOKENS);
    db.release();
    http.release();
  });
}

async function semaAndFlexible(): Promise<Body> {
  const { RateLimiterMemory } = await loadPeer<
    { RateLimiterMemory: new (options: object) => { consume(key: string, points: number): Promise<unknown> } }
  >("rate-limiter-flexible");
  const tokens = new RateLimiterMemory({ points: PLENTY, duration: 60 });
  const [http, db] = [await openSema(PLACES), await openSema(PLACES)];
  return repeat(async () => {
    await http.acquire();
    await db.acquire();
    await tokens.consume("model", TOKENS);
    db.release();
    http.release();
  });
}

async function mutexAndLimiter(): Promise<Body> {
  const [http, db] = [await openMutexSemaphore(PLACES), await openMutexSemaphore(PLACES)];
  const tokens = await openLimiter();
  return repeat(async () => {
    const [, releaseHttp] = await http.acquire();
    const [, releaseDb] = await db.acquire();
    await tokens.removeTokens(TOKENS);
    releaseDb();
    releaseHttp();
  });
}

async function limitAndLimiter(): Promise<Body> {
  const [http, db, tokens] = [await openLimit(PLACES), await openLimit(PLACES), await openLimiter()];
  return repeat(() => http(() => db(() => tokens.removeTokens(TOKENS))));
}

async function limitAndThrottle(): Promise<Body> {
  const { default: pThrottle } = await loadPeer<
    { default: (options: object) => (job: (tokens: number) => void) => (tokens: number) => Promise<void> }
  >("p-throttle");
  const throttle = pThrottle({ limit: PLENTY, interval: 60_000, weight: (tokens: number) => tokens });
  const call = throttle(() => {});
  const [http, db] = [await openLimit(PLACES), await openLimit(PLACES)];
  return repeat(() => http(() => db(() => call(TOKENS))));
}

async function queueAndLimiter(): Promise<Body> {
  const http = await openQueue({ concurrency: PLACES });
  const db = await openQueue({ concurrency: PLACES });
  const tokens = await openLimiter();
  return repeat(() => http.add(() => db.add(() => tokens.removeTokens(TOKENS))));
}

async function bulkheadAndLimiter(): Promise<Body> {
  const [http, db, tokens] = [await openBulkhead(PLACES), await openBulkhead(PLACES), await openLimiter()];
  return repeat(() => http.execute(() => db.execute(() => tokens.removeTokens(TOKENS))));
}

async function effectAndLimiter(): Promise<Body> {
  const { Effect, Semaphore } = await loadPeer<EffectModule>("effect");
  const [http, db] = [Semaphore.makeUnsafe(PLACES), Semaphore.makeUnsafe(PLACES)];
  const tokens = await openLimiter();
  const job = http.withPermit(db.withPermit(Effect.promise(() => tokens.removeTokens(TOKENS))));
  return repeat(() => Effect.runPromise(job));
}

async function bottlenecks(): Promise<Body> {
  const http = await openBottleneck({ maxConcurrent: PLACES });
  const db = await openBottleneck({ maxConcurrent: PLACES });
  const tokens = await openBottleneck({ reservoir: PLENTY });
  return repeat(() =>
    http.schedule(() => db.schedule(() => tokens.schedule({ weight: TOKENS }, async () => {})))
  );
}
