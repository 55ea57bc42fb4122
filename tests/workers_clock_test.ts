/** The clock of Workers over requests whose timers die with them. tests/workers_test.ts has the same on workerd. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "@std/testing/bdd";
import {
  Admission,
  CountingGate,
  Demand,
  type Grant,
  TimeoutError,
  TokenBucketRateLimiter,
  WorkersClock,
} from "../workers.ts";
import { type FakeRequest, FakeRequests } from "./fake_requests.ts";

const BEAT_MS = 100;
/** After so long a request that is gone has been noticed. */
const NOTICED_MS = 5 * BEAT_MS;

/** One request that waits for a demand, and what it came to. */
interface Job {
  readonly request: FakeRequest;
  grant: Grant | null;
  error: unknown;
  grantedAtMs: number;
}

function isWaiting({ grant, error }: Job): boolean {
  return grant === null && error === null;
}

describe("The clock of Workers", () => {
  let platform: FakeRequests;
  let clock: WorkersClock;
  let gate: CountingGate;
  let admission: Admission;

  beforeEach(() => {
    platform = new FakeRequests();
    platform.install();
    clock = new WorkersClock({ beatMs: BEAT_MS });
    gate = new CountingGate("gate", 1);
    admission = new Admission({ clock, memory: null }).start();
  });

  afterEach(() => platform.restore());

  function ask(demand: Demand, options: { timeoutMs?: number; signal?: AbortSignal } = {}): Job {
    const { request, result } = platform.begin(() => admission.admit(demand, options));
    const job: Job = { request, grant: null, error: null, grantedAtMs: NaN };
    result.then(
      // In a request that is gone nothing goes on.
      (grant) => request.isGone || Object.assign(job, { grant, grantedAtMs: platform.nowMs }),
      (error) => request.isGone || Object.assign(job, { error, grantedAtMs: platform.nowMs }),
    );
    return job;
  }

  it("counts from its first reading in a request, and never goes back", () => {
    assert.equal(clock.now(), 0);
    const { request } = platform.begin(() => assert.equal(clock.now(), 0));
    platform.nowMs += 5;
    assert.equal(platform.within(request, () => clock.now()), 5);
    platform.nowMs -= 3;
    assert.equal(platform.within(request, () => clock.now()), 5);
    assert.equal(clock.now(), 5, "the platform's clock stands at 0 outside of requests");
  });

  it("grants at the computed instant, in line after line", async () => {
    const bucket = new TokenBucketRateLimiter("bucket", { tpm: 60_000, rpm: 60_000, clock });
    const empty = ask(new Demand().add(bucket, 60_000));
    await platform.advance(0);
    empty.grant!.release();
    const startMs = platform.nowMs;
    const jobs = Array.from({ length: 9 }, () => ask(new Demand().add(bucket, 150)));
    await platform.advance(9 * 150);
    assert.deepEqual(jobs.map((job) => job.grantedAtMs - startMs), jobs.map((_, i) => (i + 1) * 150));
  });

  it("ends every time limit at its instant, also those of waiters that guard nothing yet", async () => {
    const holder = ask(new Demand().add(gate));
    await platform.advance(0);
    const startMs = platform.nowMs;
    const jobs = [350, 7, 333, 40, 41, 199, 5, 120].map((timeoutMs) => ({
      timeoutMs,
      job: ask(new Demand().add(gate), { timeoutMs }),
    }));
    await platform.advance(400);
    for (const { timeoutMs, job } of jobs) {
      assert.ok(job.error instanceof TimeoutError);
      assert.equal(job.grantedAtMs - startMs, timeoutMs);
    }
    holder.grant!.release();
  });

  it("meets an instant that comes before the first beat of whoever is alone in line, or becomes so", async () => {
    const holder = ask(new Demand().add(gate));
    await platform.advance(0);
    const alone = ask(new Demand().add(gate), { timeoutMs: 30 });
    await platform.advance(30);
    assert.ok(alone.error instanceof TimeoutError);

    const leaving = new AbortController();
    const guards = Array.from({ length: 4 }, () => ask(new Demand().add(gate), { signal: leaving.signal }));
    const last = ask(new Demand().add(gate), { timeoutMs: 60 });
    await platform.advance(10);
    leaving.abort();
    await platform.advance(50);
    assert.ok(guards.every((job) => !isWaiting(job)));
    assert.ok(last.error instanceof TimeoutError);
    holder.grant!.release();
  });

  it("is a beat late at most when all who guarded an instant went without a word", async () => {
    ask(new Demand().add(gate));
    await platform.advance(0);
    const guards = Array.from({ length: 4 }, () => ask(new Demand().add(gate)));
    const last = ask(new Demand().add(gate), { timeoutMs: 250 });
    await platform.advance(220);
    for (const { request } of guards) request.isGone = true;
    await platform.advance(29);
    assert.ok(isWaiting(last));
    await platform.advance(1 + BEAT_MS);
    assert.ok(last.error instanceof TimeoutError);
  });

  it("has other guards once two beats passed without a word of those who went", async () => {
    ask(new Demand().add(gate));
    await platform.advance(0);
    const guards = Array.from({ length: 4 }, () => ask(new Demand().add(gate)));
    const last = ask(new Demand().add(gate), { timeoutMs: 290 });
    await platform.advance(0);
    for (const { request } of guards) request.isGone = true;
    await platform.advance(289);
    assert.ok(isWaiting(last));
    await platform.advance(1);
    assert.ok(last.error instanceof TimeoutError);
  });

  it("releases the grant of a request that went without doing so, and grants the next waiter", async () => {
    const gone = ask(new Demand().add(gate));
    await platform.advance(0);
    gone.request.isGone = true;
    const next = ask(new Demand().add(gate));
    await platform.advance(3 * BEAT_MS - 1);
    assert.ok(isWaiting(next), "a short silence proves nothing");
    await platform.advance(NOTICED_MS - 3 * BEAT_MS + 1);
    assert.ok(next.grant !== null);
    next.grant.release();
    assert.equal(gate.currentInUse, 0);
  });

  it("sweeps when a caller comes, also where nobody waited meanwhile", async () => {
    const gone = ask(new Demand().add(gate));
    await platform.advance(0);
    gone.request.isGone = true;
    await platform.advance(60_000);
    assert.equal(gate.currentInUse, 1);
    const next = ask(new Demand().add(gate));
    await platform.advance(BEAT_MS);
    assert.ok(next.grant !== null);
  });

  it("takes nobody for gone whose timers only came late", async () => {
    const holder = ask(new Demand().add(gate));
    const waiter = ask(new Demand().add(gate));
    await platform.advance(0);
    // The isolate was busy for a minute: a new request is first to run.
    platform.nowMs += 60_000;
    const late = ask(new Demand().add(gate));
    await platform.advance(10 * BEAT_MS);
    assert.deepEqual([admission.queueSize, gate.currentInUse], [2, 1]);
    for (const job of [holder, waiter, late]) {
      assert.ok(job.grant !== null);
      job.grant.release();
      await platform.advance(0);
    }
  });

  it("leaves no timer when everything is settled", async () => {
    const jobs = Array.from({ length: 6 }, () => ask(new Demand().add(gate)));
    const leaving = new AbortController();
    jobs.push(ask(new Demand().add(gate), { signal: leaving.signal }));
    await platform.advance(0);
    leaving.abort();
    for (const job of jobs.slice(0, -1)) {
      assert.ok(job.grant !== null);
      job.grant.release();
      await platform.advance(0);
    }
    await platform.advance(BEAT_MS);
    assert.equal(platform.pendingTimers, 0);
  });

  it("reports what an alarm throws, and calls the others", async () => {
    const called: string[] = [];
    const timers = [
      clock.setTimer(50, () => {
        throw new Error("broken");
      }),
      clock.setTimer(50, () => called.push("second")),
      clock.setTimer(50, () => called.push("cancelled")),
    ];
    timers[2]!.cancel();
    const caller = { isWaiting: true, isOver: false, abandon: () => {} };
    platform.begin(() => clock.attend(caller));
    await platform.advance(150);
    assert.deepEqual([called, platform.faults.map(String)], [["second"], ["Error: broken"]]);
    caller.isOver = true;
  });

  it("refuses who is admitted outside of a request, and nothing stays taken", async () => {
    await assert.rejects(admission.admit(new Demand().add(gate)), /global scope/);
    assert.deepEqual([admission.queueSize, gate.currentInUse], [0, 0]);
  });

  it("refuses a beat that is none", () => {
    for (const beatMs of [9, 60_001, NaN, Infinity, -1]) {
      assert.throws(() => new WorkersClock({ beatMs }), RangeError);
    }
    assert.throws(() => new WorkersClock({ beatMs: "1000" as unknown as number }), TypeError);
  });

  it("loses nothing and holds nothing twice, whoever goes when", async () => {
    const step = fc.record({ comes: fc.boolean(), goes: fc.nat(20), ends: fc.nat(20), ms: fc.nat(150) });
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const jobs: Job[] = [];
      const finished = new Set<Job>();
      const finish = (job: Job): void => {
        if (job.grant !== null) finished.add(job);
        job.grant?.release();
      };
      for (const { comes, goes, ends, ms } of steps) {
        if (comes) jobs.push(ask(new Demand().add(gate)));
        if (jobs[goes] !== undefined) jobs[goes].request.isGone = true;
        if (jobs[ends]?.request.isGone === false) finish(jobs[ends]);
        await platform.advance(ms);
        const robbed = jobs.filter((job) =>
          !job.request.isGone && job.grant?.isSettled && !finished.has(job)
        );
        assert.equal(robbed.length, 0, "nothing is taken from the living");
        const holders = jobs.filter((job) => job.grant?.isSettled === false && !job.request.isGone);
        assert.ok(holders.length <= 1, `${holders.length} hold one permit`);
      }
      const living = (): Job[] => jobs.filter(({ request, grant }) => !request.isGone && !grant?.isSettled);
      while (living().length > 0) {
        await platform.advance(NOTICED_MS);
        const [first] = living();
        assert.ok(!isWaiting(first!), "the oldest of the living has its turn");
        finish(first!);
      }
      await platform.advance(NOTICED_MS);
      const last = ask(new Demand().add(gate));
      await platform.advance(2 * NOTICED_MS);
      assert.deepEqual([admission.queueSize, gate.currentInUse, last.grant === null], [0, 1, false]);
      last.grant!.release();
    }));
  });
});
