/**
 * The program that a user's first hour amounts to: admit, wait, release, bucket, gate, abort, a fetch, a route of Hono, the clock
 * of Workers, the suite for an account of one's own.
 *
 * It is compiled against the packed declarations and runs as it is on every runtime, so it asks nothing of one.
 */
import {
  Admission,
  CountingGate,
  Demand,
  type Grant,
  TimeoutError,
  TokenBucketRateLimiter,
} from "@sluice/admission";
import { admittedFetch } from "@sluice/admission/fetch";
import { admit } from "@sluice/admission/hono";
import { ManualClock, rateLimiterContract, type TestRunner } from "@sluice/admission/testing";
import { Admission as AdmissionOfWorkers, WorkersClock } from "@sluice/admission/workers";
import { Hono } from "hono";

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The smoke program found that it does not hold: ${what}.`);
}

/** Runs all steps; gives their names, and throws at the first that fails. */
export async function runSmoke(): Promise<string> {
  const steps = [
    waitForAPermit,
    waitForTokens,
    leaveTheLine,
    waitOnAManualClock,
    fetchUnderPermits,
    limitRoutes,
    waitOnTheClockOfWorkers,
    passTheContract,
  ];
  for (const step of steps) await step();
  return `${steps.length} steps`;
}

/** A second job waits, holding nothing, until the first one gives its permit back. */
async function waitForAPermit(): Promise<void> {
  const gate = new CountingGate("gate", 1);
  const other = new CountingGate("other", 1);
  const admission = new Admission({ memory: null }).start();
  const first = await admission.admit(new Demand().add(gate));
  const waiting = admission.admit(new Demand().add(gate).add(other));
  check(admission.queueSize === 1 && other.currentInUse === 0, "a waiter holds nothing");
  check(admission.tryAdmit(new Demand().add(gate)) === null, "a full gate answers null");
  admission.release(first);
  {
    using grant = await waiting;
    check(
      !grant.isEmpty && gate.currentInUse === 1 && other.currentInUse === 1,
      "a release grants the waiter",
    );
  }
  check(gate.currentInUse === 0 && other.currentInUse === 0, "a disposed grant gives back");
  admission.stop();
}

/** A short bucket grants by the clock alone. */
async function waitForTokens(): Promise<void> {
  const bucket = new TokenBucketRateLimiter("bucket", { tpm: 600_000, rpm: 60_000 });
  const admission = new Admission({ memory: null }).start();
  await admission.admit(new Demand().add(bucket, 600_000));
  const grant = await admission.admit(new Demand().add(bucket, 300));
  check(
    grant.wallWaitMs >= 1 && grant.wallWaitMs < 5_000,
    `300 tokens take about 30 ms, not ${grant.wallWaitMs}`,
  );
  admission.stop();
}

/** An aborted waiter leaves with its own reason, and everything stays as it was. */
async function leaveTheLine(): Promise<void> {
  const gate = new CountingGate("gate", 1);
  const admission = new Admission({ memory: null }).start();
  const held = await admission.admit(new Demand().add(gate));
  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = admission.admit(new Demand().add(gate), { signal: controller.signal });
  controller.abort(reason);
  const outcome = await waiting.then(() => null, (error: unknown) => error);
  check(outcome === reason && admission.queueSize === 0, "an abort rejects with the signal's reason");
  admission.release(held);
  check(gate.currentInUse === 0, "an aborted waiter held nothing");
  admission.stop();
}

/** The clock of ./testing drives the classes of the main entry: both entries know the same ones. */
async function waitOnAManualClock(): Promise<void> {
  const clock = new ManualClock();
  const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock });
  const admission = new Admission({ memory: null, clock }).start();
  await admission.admit(new Demand().add(bucket, 60_000));
  let isGranted = false;
  const waiting = admission.admit(new Demand().add(bucket, 1_000)).then(() => isGranted = true);
  await clock.advance(999);
  check(!isGranted, "1,000 tokens are not there after 999 ms");
  await clock.advance(1);
  check(isGranted, "1,000 tokens are there after 1,000 ms");
  await waiting;
  admission.stop();
}

/** The Hono adapter: a limited route, a refusal, a stream, without a socket. */
async function limitRoutes(): Promise<void> {
  const gate = new CountingGate("slot", 1);
  const admission = new Admission({ memory: null }).start();
  const limited = admit({ demand: new Demand().add(gate), admission, timeoutMs: 0 });
  const app = new Hono()
    .get("/text", limited, (c) => {
      const grant: Grant = c.var.grant;
      return c.text(String(grant.isSettled));
    })
    .get("/stream", limited, () => new Response(new ReadableStream()));
  check(await (await app.request("/text")).text() === "false", "a handler has its grant");
  check(gate.currentInUse === 0, "a text is over when it is handed over");
  const stream = await app.request("/stream");
  check(gate.currentInUse === 1, "a stream keeps its grant");
  const refused = await app.request("/text");
  check(
    refused.status === 503 && refused.headers.get("RateLimit") === '"slot";r=0',
    "the next one is refused",
  );
  await stream.body?.cancel();
  check(gate.currentInUse === 0, "a cancelled stream gives back");
  admission.stop();
}

/** A fetch holds its permits until the body is read. Where there is no fetch, it is only made. */
async function fetchUnderPermits(): Promise<void> {
  const http = new CountingGate("http", 1);
  const admission = new Admission({ memory: null }).start();
  const answer = () => Promise.resolve(new Response("hello"));
  const admitted = admittedFetch({ admission, provider: "openai", http, fetch: answer });
  if (typeof Response === "function") {
    const response = await admitted("https://api.example.com/");
    check(http.currentInUse === 1, "a response holds its permit");
    check(await response.text() === "hello" && http.currentInUse === 0, "a body that was read gives it back");
  }
  admission.stop();
}

/** The entry of Workers has the classes of the main one, and its clock works everywhere. */
async function waitOnTheClockOfWorkers(): Promise<void> {
  check(AdmissionOfWorkers === Admission, "a class is the same class whichever entry it comes from");
  const gate = new CountingGate("gate", 1);
  const admission = new AdmissionOfWorkers({ memory: null, clock: new WorkersClock({ beatMs: 10 }) }).start();
  const held = await admission.admit(new Demand().add(gate));
  const waiting = admission.admit(new Demand().add(gate), { timeoutMs: 20 });
  const late = await waiting.then(() => null, (error: unknown) => error);
  check(late instanceof TimeoutError, "a wait ends at its time limit");
  admission.release(held);
  check(gate.currentInUse === 0, "everything was given back");
  admission.stop();
}

/** The suite for authors of accounts, with a test runner of six lines. */
async function passTheContract(): Promise<void> {
  const cases: (() => void | Promise<void>)[] = [];
  const runner: TestRunner = { describe: (_, body) => body(), it: (_, body) => void cases.push(body) };
  rateLimiterContract("a gate", () => ({
    account: new CountingGate("gate", 2),
    clock: new ManualClock(),
    amount: undefined,
    room: 2,
  }), runner);
  check(cases.length > 5, `a suite has many cases, not ${cases.length}`);
  for (const each of cases) await each();
}
