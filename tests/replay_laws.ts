/** What must hold of every replay, as checks over its job records, and an oracle that says when each grant is due. */
import assert from "node:assert/strict";
import { EventHeap } from "../examples/replay/event_heap.ts";
import { ExactBucket } from "../examples/replay/exact_bucket.ts";
import type { Job, Replay } from "../examples/replay/job.ts";
import { serviceTicks } from "../examples/replay/service_time.ts";
import { arrivalTicksOf, TICKS_PER_MINUTE, tokensOf } from "../examples/replay/trace.ts";

/** Asserts every law of a replay through Sluice. */
export function assertLaws(replay: Replay, jobs: readonly Job[]): void {
  const { trace, limits } = replay;
  assert.equal(jobs.length, trace.rows.length);
  trace.rows.forEach((row, index) => {
    const job = jobs[index];
    assert.ok(job);
    assert.equal(job.tokens, tokensOf(row));
    assert.equal(job.grantedTicks !== null, job.tokens <= limits.tpm, `job ${index} of ${job.tokens} tokens`);
    assert.equal(job.refused === null, job.grantedTicks !== null);
    if (job.grantedTicks === null) return assert.equal(job.releasedTicks, null);
    assert.ok(job.grantedTicks >= row.arrivalStamps / 10, `job ${index} was granted before it came`);
    assert.equal(job.releasedTicks, job.grantedTicks + serviceTicks(row));
  });
  assertInOrder(jobs);
  assertWithinQuota(jobs, { cap: limits.tpm, amountOf: (job) => job.tokens });
  assertWithinQuota(jobs, { cap: limits.rpm, amountOf: () => 1 });
  assertWithinGate(jobs, Math.min(limits.http, limits.db));
}

/** Asserts that grants come in order of arrival. */
export function assertInOrder(jobs: readonly Job[]): void {
  let last = 0;
  jobs.forEach((job, index) => {
    if (job.grantedTicks === null) return;
    assert.ok(job.grantedTicks >= last, `job ${index} was granted before an earlier one`);
    last = job.grantedTicks;
  });
}

/**
 * Asserts that in no window, of any length w and with both ends in it, more than `cap * w / 60 s + cap` is granted. With
 * S(j) all that was granted up to the grant j, at t(j), it says for all pairs i <= j: S(j) - S(i-1) <= cap * (t(j) -
 * t(i)) + cap, that is (S(j) - cap * t(j)) - min over i of (S(i-1) - cap * t(i)) <= cap: one running minimum, exact in
 * whole numbers of 1/60,000,000 unit.
 */
export function assertWithinQuota(
  jobs: readonly Job[],
  { cap, amountOf }: { cap: number; amountOf: (job: Job) => number },
): void {
  const unit = BigInt(TICKS_PER_MINUTE);
  const exactCap = BigInt(cap);
  let sum = 0n;
  let least: bigint | null = null;
  for (const job of jobs) {
    if (job.grantedTicks === null) continue;
    const allowed = exactCap * BigInt(job.grantedTicks);
    const before = sum - allowed;
    if (least === null || before < least) least = before;
    sum += BigInt(amountOf(job)) * unit;
    const used: bigint = sum - allowed - least;
    assert.ok(
      used <= exactCap * unit,
      `${used} of ${exactCap * unit} units used at tick ${job.grantedTicks}`,
    );
  }
}

/** Asserts that never more than `capacity` jobs are between grant and release. */
export function assertWithinGate(jobs: readonly Job[], capacity: number): void {
  const releases = new EventHeap<null>();
  let inUse = 0;
  for (const job of jobs) {
    if (job.grantedTicks === null || job.releasedTicks === null) continue;
    while (releases.nextTicks <= job.grantedTicks) {
      releases.pop();
      inUse -= 1;
    }
    releases.push(job.releasedTicks, null);
    inUse += 1;
    assert.ok(inUse <= capacity, `${inUse} in use of ${capacity} at tick ${job.grantedTicks}`);
  }
}

/**
 * When each job is due, worked out without an Admission. All demands name the same accounts, so the line is strictly
 * first in, first out: a job is due once it has come, the one before it has gone, a place and a permit are free, and
 * the quota has what it needs; null where it never will.
 */
export function dueTicks({ trace, limits }: Replay): (number | null)[] {
  const tokens = new ExactBucket(limits.tpm);
  const requests = new ExactBucket(limits.rpm);
  const releases = new EventHeap<null>();
  const width = Math.min(limits.http, limits.db);
  let inUse = 0;
  let due = 0;
  return trace.rows.map((row) => {
    const amount = tokensOf(row);
    if (amount > limits.tpm) return null;
    due = Math.max(due, arrivalTicksOf(row));
    if (inUse === width) {
      due = Math.max(due, releases.nextTicks);
      releases.pop();
      inUse -= 1;
    }
    due = Math.max(tokens.readyTicks(due, amount), requests.readyTicks(due, 1));
    tokens.take(due, amount);
    requests.take(due, 1);
    releases.push(due + serviceTicks(row), null);
    inUse += 1;
    return due;
  });
}
