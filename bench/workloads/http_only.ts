import { Admission, CountingGate, Demand, TokenBucketRateLimiter } from "../../mod.ts";
import { openSema } from "../gates/async_sema.ts";
import { openLimit } from "../gates/p_limit.ts";
import { loadPeer } from "../peers.ts";
import { laterTurn } from "../timing.ts";
import { type Contender, NO_SIZE, type Reading, type Workload } from "../workload.ts";

/** Jobs that need a place only, while others wait for tokens. */
export const httpOnly: Workload = {
  name: "http-only",
  question: "How much of their rate do HTTP-only jobs keep beside a dry bucket?",
  method:
    "64 places, 128 clients that each hold one for two milliseconds over and over; their rate while 200 jobs wait " +
    "that need a place and tokens, over their rate alone. In the other order, tokens first, the jobs that wait for a " +
    "place hold the tokens instead.",
  units: { kept: "ratio", alone: "jobs/s", beside: "jobs/s" },
  sizes: NO_SIZE,
  contenders: {
    "sluice": contended(throughSluice),
    "async-sema then limiter": contended(placeThenTokens),
    "p-limit then limiter": contended(limitThenTokens),
    "limiter then async-sema": contended(tokensThenPlace),
  },
};

/** A pool of HTTP places, and a bucket that is dry for as long as anybody looks. */
interface Pool {
  /** One job that needs a place only. */
  http(work: () => Promise<void>): Promise<void>;
  /** One job that needs a place and tokens: it waits. */
  metered(): void;
}

const PLACES = 64;
const CLIENTS = 128;
const METERED_JOBS = 200;
const TOKENS = 1_000;
const WORK_MS = 2;

function contended(open: () => Pool | Promise<Pool>): Contender {
  return async (effort) => {
    const pool = await open();
    await jobsPerSecond(pool, effort.streamMs / 8);
    let alone = 0;
    // On a crowded machine a short phase may see no job through.
    while (alone === 0) alone = await jobsPerSecond(pool, effort.streamMs / 2);
    for (let i = 0; i < METERED_JOBS; i++) pool.metered();
    await laterTurn();
    const beside = await jobsPerSecond(pool, effort.streamMs / 2);
    return reading(alone, beside);
  };
}

function reading(alone: number, beside: number): Reading {
  return { kept: beside / alone, alone, beside };
}

/** Finished jobs a second, with every client busy; whoever has no place by the end is left waiting. */
function jobsPerSecond(pool: Pool, forMs: number): Promise<number> {
  const work = () => new Promise<void>((resolve) => void setTimeout(resolve, WORK_MS));
  const endMs = performance.now() + forMs;
  let finished = 0;
  const client = async () => {
    while (performance.now() < endMs) {
      await pool.http(work);
      if (performance.now() < endMs) finished++;
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  const timeIsUp = new Promise<void>((resolve) => void setTimeout(resolve, forMs + 10 * WORK_MS));
  return Promise.race([clients, timeIsUp]).then(() => finished / forMs * 1_000);
}

function throughSluice(): Pool {
  const http = new CountingGate("http", PLACES);
  const bucket = new TokenBucketRateLimiter("model", { tpm: TOKENS, rpm: 1_000 });
  const admission = new Admission({ memory: null }).start();
  const place = new Demand().add(http);
  const both = new Demand().add(bucket, TOKENS).add(http);
  admission.release(admission.tryAdmit(both)!);
  return {
    http: async (work) => {
      const grant = await admission.admit(place);
      await work();
      admission.release(grant);
    },
    metered: () => void admission.admit(both),
  };
}

/** A bucket that refills in a minute, and has just been emptied. */
async function openDryBucket(): Promise<{ removeTokens(count: number): Promise<number> }> {
  const { RateLimiter } = await loadPeer<
    { RateLimiter: new (options: object) => { removeTokens(count: number): Promise<number> } }
  >("limiter");
  const bucket = new RateLimiter({ tokensPerInterval: TOKENS, interval: "minute" });
  await bucket.removeTokens(TOKENS);
  return bucket;
}

async function placeThenTokens(): Promise<Pool> {
  const [http, bucket] = [await openSema(PLACES), await openDryBucket()];
  const withPlace = async (work: () => Promise<unknown>) => {
    await http.acquire();
    await work();
    http.release();
  };
  return {
    http: withPlace,
    metered: () => void withPlace(() => bucket.removeTokens(TOKENS)),
  };
}

async function limitThenTokens(): Promise<Pool> {
  const [http, bucket] = [await openLimit(PLACES), await openDryBucket()];
  return {
    http: (work) => http(work),
    metered: () => void http(() => bucket.removeTokens(TOKENS)),
  };
}

async function tokensThenPlace(): Promise<Pool> {
  const [http, bucket] = [await openSema(PLACES), await openDryBucket()];
  return {
    http: async (work) => {
      await http.acquire();
      await work();
      http.release();
    },
    metered: () =>
      void bucket.removeTokens(TOKENS).then(async () => {
        await http.acquire();
        http.release();
      }),
  };
}
