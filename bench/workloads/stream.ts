import process from "node:process";
import { Admission, Demand, TokenBucketRateLimiter } from "../../mod.ts";
import { openBottleneck } from "../gates/bottleneck.ts";
import type { Effectful, EffectModule } from "../gates/effect.ts";
import { openQueue } from "../gates/p_queue.ts";
import { loadPeer } from "../peers.ts";
import { quantile } from "../statistics.ts";
import { laterTurn } from "../timing.ts";
import { type Contender, NO_SIZE, type Reading, type Workload } from "../workload.ts";

const SPACES = { cannot: "limits jobs at work, not their rate" };

/** Jobs that a bucket of tokens lets out. */
export const stream: Workload = {
  name: "stream",
  question: "How exactly does a metered stream keep its rate?",
  method:
    "1,000,000 tokens a second, 1,000 a job, all jobs in line from the start: one is due every millisecond. A first " +
    "stream of a sixth of the length warms up. `rate` is " +
    "what was achieved over what was due, `late` how long after its instant a job heard of its turn, `cpu` the " +
    "processor's time per job. p-throttle, p-queue, async-sema and bottleneck count jobs, not tokens, and are told to " +
    "start one every millisecond.",
  units: { "rate": "ratio", "late p50": "ms", "late p99": "ms", "cpu": "us" },
  sizes: NO_SIZE,
  contenders: {
    "sluice": metered(sluiceBucket),
    "limiter": metered(limiterBucket),
    "effect": metered(effectBucket),
    "p-throttle": metered(throttle),
    "p-queue": metered(queue),
    "async-sema": metered(semaRate),
    "bottleneck": metered(spacing),
    "bare timers": metered(bareTimers),
    "rate-limiter-flexible": { cannot: "counts whole windows of a second or more: 1,000 jobs start at once" },
    "p-limit": SPACES,
    "async-mutex": SPACES,
    "cockatiel": SPACES,
  },
};

/** A meter that starts dry, or due at once: waits until one more job of 1,000 tokens may start. */
interface Meter {
  take(): Promise<unknown>;
  /** Milliseconds from the start to the first instant. */
  readonly firstMs: number;
}

const TOKENS = 1_000;
const TOKENS_PER_MINUTE = 60_000_000;

function metered(open: () => Meter | Promise<Meter>): Contender {
  return async ({ streamMs }) => {
    await streamed(await open(), Math.ceil(streamMs / 6));
    return await streamed(await open(), streamMs);
  };
}

async function streamed({ take, firstMs }: Meter, jobs: number): Promise<Reading> {
  const startMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const heardMs: number[] = [];
  await Promise.all(Array.from({ length: jobs }, () => take().then(() => heardMs.push(performance.now()))));
  const { user, system } = process.cpuUsage(cpuBefore);
  return readingOf(heardMs.map((ms) => ms - startMs), { firstMs, cpuUs: (user + system) / jobs });
}

function readingOf(
  heardMs: readonly number[],
  { firstMs, cpuUs }: { firstMs: number; cpuUs: number },
): Reading {
  const late = heardMs.map((ms, index) => Math.max(0, ms - (firstMs + index)));
  const lastDueMs = firstMs + heardMs.length - 1;
  return {
    "rate": lastDueMs / heardMs.at(-1)!,
    "late p50": quantile(late, 0.5),
    "late p99": quantile(late, 0.99),
    "cpu": cpuUs,
  };
}

async function sluiceBucket(): Promise<Meter> {
  const bucket = new TokenBucketRateLimiter("model", { tpm: TOKENS_PER_MINUTE, rpm: 2 ** 40 });
  const admission = new Admission({ memory: null }).start();
  const job = new Demand().add(bucket, TOKENS);
  await laterTurn();
  admission.release(admission.tryAdmit(new Demand().add(bucket, TOKENS_PER_MINUTE))!);
  return { take: async () => admission.release(await admission.admit(job)), firstMs: 1 };
}

async function limiterBucket(): Promise<Meter> {
  const { TokenBucket } = await loadPeer<
    { TokenBucket: new (options: object) => { removeTokens(count: number): Promise<number> } }
  >("limiter");
  const bucket = new TokenBucket({
    bucketSize: TOKENS_PER_MINUTE,
    tokensPerInterval: TOKENS_PER_MINUTE,
    interval: "minute",
  });
  return { take: () => bucket.removeTokens(TOKENS), firstMs: 1 };
}

async function effectBucket(): Promise<Meter> {
  const { Effect } = await loadPeer<EffectModule>("effect");
  const { RateLimiter } = await loadPeer<{
    RateLimiter: {
      make: Effectful;
      layerStoreMemory: unknown;
      sleep(limiter: unknown): (options: object) => Effectful;
    };
  }>("effect/persistence");
  const limiter = await Effect.runPromise(
    RateLimiter.make.pipe(Effect.provide(RateLimiter.layerStoreMemory)),
  );
  const sleep = RateLimiter.sleep(limiter);
  const options = { algorithm: "token-bucket", window: "1 minute", limit: TOKENS_PER_MINUTE, key: "model" };
  await Effect.runPromise(sleep({ ...options, tokens: TOKENS_PER_MINUTE }));
  const job = sleep({ ...options, tokens: TOKENS });
  return { take: () => Effect.runPromise(job), firstMs: 1 };
}

async function throttle(): Promise<Meter> {
  const { default: pThrottle } = await loadPeer<
    { default: (options: object) => (job: () => void) => () => Promise<void> }
  >("p-throttle");
  return { take: pThrottle({ limit: 1, interval: 1 })(() => {}), firstMs: 0 };
}

async function queue(): Promise<Meter> {
  const jobs = await openQueue({ intervalCap: 1, interval: 1 });
  return { take: () => jobs.add(() => {}), firstMs: 0 };
}

async function semaRate(): Promise<Meter> {
  const { RateLimit } = await loadPeer<
    { RateLimit: (perSecond: number, options: object) => () => Promise<void> }
  >("async-sema");
  return { take: RateLimit(1_000, { uniformDistribution: true }), firstMs: 0 };
}

/** A yardstick, no peer: one timer for the first in line, and nothing else. It lets go whoever is due when it fires. */
function bareTimers(): Meter {
  const line: (() => void)[] = [];
  const startMs = performance.now();
  let gone = 0;
  const arm = () => void setTimeout(fire, Math.ceil(startMs + gone + 1 - performance.now()));
  const fire = () => {
    const due = Math.floor(performance.now() - startMs);
    while (gone < due && gone < line.length) line[gone++]!();
    if (gone < line.length) arm();
  };
  return {
    take: () =>
      new Promise<void>((resolve) => {
        line.push(resolve);
        if (line.length === 1) arm();
      }),
    firstMs: 1,
  };
}

async function spacing(): Promise<Meter> {
  const limiter = await openBottleneck({ minTime: 1 });
  return { take: () => limiter.schedule(async () => {}), firstMs: 0 };
}
