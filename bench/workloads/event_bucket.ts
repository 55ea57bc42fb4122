import { Admission, Demand, type Grant, TokenBucketRateLimiter } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { openMutexSemaphore } from "../gates/async_mutex.ts";
import type { EffectModule } from "../gates/effect.ts";
import { loadPeer } from "../peers.ts";
import { nsEach } from "../timing.ts";
import type { Contender, Workload } from "../workload.ts";
import { LINES } from "./event_gate.ts";

const NO_WEIGHTS = { cannot: "no weights" };
const NOTHING_BACK = { cannot: "what was taken cannot be given back" };

/** Tokens come back to a dry bucket in front of n that wait for different amounts. */
export const eventBucket: Workload = {
  name: "event-bucket",
  question: "What does it cost when tokens come back and n wait for different amounts?",
  method:
    "The amounts are 1 to 10,000 in a mixed order. What comes back is what the oldest waiter asks for, so one is " +
    "admitted; it hears of it, and a new job joins the line. Time stands still.",
  units: { event: "ns" },
  sizes: LINES,
  contenders: {
    "sluice": weighted(openBucket),
    "async-mutex": weighted(openWeights),
    "effect": { run: weighted(openPermits), most: 1_000 },
    "async-sema": NO_WEIGHTS,
    "p-limit": NO_WEIGHTS,
    "p-queue": NO_WEIGHTS,
    "cockatiel": NO_WEIGHTS,
    "bottleneck": NOTHING_BACK,
    "limiter": NOTHING_BACK,
    "rate-limiter-flexible": { cannot: "`reward` gives points back, but wakes nobody who waits" },
    "p-throttle": NOTHING_BACK,
  },
};

/** An account of tokens that is empty at first: joins its line, and gets some tokens back. */
interface Tokens {
  join(amount: number, onTurn: () => void): void;
  giveBack(amount: number): void;
}

const AMOUNTS = 10_000;

/** The amount that the i-th job asks for: each of 1 to 10,000 once in 10,000 jobs. */
function amountOf(index: number): number {
  return 1 + (index * 7_919) % AMOUNTS;
}

function weighted(open: () => Tokens | Promise<Tokens>): Extract<Contender, (...args: never) => unknown> {
  return async (effort) => {
    const tokens = await open();
    let hear = () => {};
    const onTurn = () => hear();
    for (let i = 0; i < effort.size; i++) tokens.join(amountOf(i), onTurn);
    let oldest = 0;
    const event = await nsEach(async (count) => {
      for (let i = 0; i < count; i++) {
        const turn = new Promise<void>((resolve) => hear = resolve);
        tokens.giveBack(amountOf(oldest));
        await turn;
        tokens.join(amountOf(oldest + effort.size), onTurn);
        oldest++;
      }
    }, effort);
    return { event };
  };
}

/** A bucket of which one grant of each amount is out, so that any amount can come back by a rollback. */
function openBucket(): Tokens {
  const clock = new ManualClock();
  const all = AMOUNTS * (AMOUNTS + 1) / 2;
  const bucket = new TokenBucketRateLimiter("model", { tpm: all, rpm: 2 ** 40, clock });
  const admission = new Admission({ memory: null, clock }).start();
  const demands = Array.from({ length: AMOUNTS + 1 }, (_, amount) => new Demand().add(bucket, amount));
  const grants: (Grant | null)[] = demands.map((demand, amount) =>
    amount === 0 ? null : admission.tryAdmit(demand)
  );
  return {
    join: (amount, onTurn) =>
      void admission.admit(demands[amount]!).then((grant) => {
        grants[amount] = grant;
        onTurn();
      }),
    giveBack: (amount) => admission.rollback(grants[amount]!),
  };
}

async function openWeights(): Promise<Tokens> {
  const semaphore = await openMutexSemaphore(0);
  return {
    join: (amount, onTurn) => void semaphore.acquire(amount).then(onTurn),
    giveBack: (amount) => semaphore.release(amount),
  };
}

async function openPermits(): Promise<Tokens> {
  const { Effect, Semaphore } = await loadPeer<EffectModule>("effect");
  const semaphore = Semaphore.makeUnsafe(AMOUNTS);
  Effect.runSync(semaphore.takeIfAvailable(AMOUNTS));
  return {
    join: (amount, onTurn) => void Effect.runPromise(semaphore.take(amount)).then(onTurn),
    giveBack: (amount) => void Effect.runSync(semaphore.release(amount)),
  };
}
