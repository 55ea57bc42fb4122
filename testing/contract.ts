import assert from "node:assert/strict";
import {
  Admission,
  Demand,
  type Grant,
  type LimiterIdentity,
  type RateLimiter,
  UncorrectableError,
} from "../mod.ts";
import type { ManualClock } from "./manual_clock.ts";

/** The two functions of a test runner that a suite needs. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  it(name: string, body: () => void | Promise<void>): void;
}

/** A fresh account to be tested, with what the suite has to know of it. */
export interface ContractSubject<T> {
  readonly account: RateLimiter<T>;
  /** The clock that the account reads; for one that reads none, any. */
  readonly clock: ManualClock;
  /** One amount. */
  readonly amount: T;
  /** How many of these fit the fresh account together, 1 or more; one more does not. */
  readonly room: number;
  /** Amounts that can never fit; leave it out for an account that refuses nothing. */
  readonly impossible?: readonly T[];
}

/** Makes a fresh subject for every case. */
export type MakeSubject<T> = () => ContractSubject<T>;

/**
 * What every account promises, as tests for the author of one. `name` heads the suite, `make` supplies a fresh account for
 * each case.
 */
export function rateLimiterContract<T>(name: string, make: MakeSubject<T>, runner: TestRunner): void {
  runner.describe(`${name}, as an account`, () => {
    questions(make, runner);
    movements(make, runner);
    waking(make, runner);
    inLine(make, runner);
  });
}

function times<T>({ amount }: ContractSubject<T>, count: number): T[] {
  return new Array<T>(count).fill(amount);
}

function questions<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("answers the same however often it is asked, and asking takes nothing", () => {
    const subject = make();
    const { account, room } = subject;
    const all = times(subject, room);
    for (let i = 0; i < 10; i++) assert.equal(account.fits(all, []), true, "fits() on the fresh account");
    assert.equal(account.tryTake(all, []), true, "tryTake() of what fits");
    for (let i = 0; i < 10; i++) {
      assert.equal(account.fits(times(subject, 1), []), false, "fits() on the full account");
    }
  });

  it("sets aside what is ahead, and never refuses for it", () => {
    const subject = make();
    const { account, room } = subject;
    assert.equal(account.fits(times(subject, 1), times(subject, room - 1)), true);
    assert.equal(account.fits(times(subject, 1), times(subject, room)), false);
    assert.equal(account.tryTake(times(subject, 1), times(subject, room)), false);
    assert.equal(account.tryTake(times(subject, room), []), true, "a declined take has taken nothing");
  });

  it("refuses what can never fit, on the check and on the take, and takes nothing", () => {
    const subject = make();
    const { account, room, impossible } = subject;
    if (impossible === undefined) return;
    assert.throws(() => account.fits(impossible, []), UncorrectableError);
    assert.throws(() => account.tryTake(impossible, []), UncorrectableError);
    assert.equal(account.earliestFit(impossible, []), null, "earliestFit() answers null and does not throw");
    assert.equal(account.tryTake(times(subject, room), []), true);
  });

  it("names an instant at which it fits, or null when only an event can help", async () => {
    const subject = make();
    const { account, clock, room } = subject;
    account.tryTake(times(subject, room), []);
    const instant = account.earliestFit(times(subject, 1), []);
    if (account.replenishment === "RELEASE" && instant === null) return;
    assert.equal(typeof instant, "number", "a metered account that is short names an instant");
    await clock.advanceTo(instant!);
    assert.equal(account.fits(times(subject, 1), []), true, "it fits at the instant it named");
  });

  it("says what an amount debits, by a name that stays", () => {
    const { account, amount } = make();
    const identity: LimiterIdentity = account.accountFor(amount);
    assert.ok(identity.limiterName.length > 0);
    assert.equal(account.accountFor(amount), identity, "the same amount debits the same identity");
    assert.ok(Number.isFinite(identity.capacity) && identity.currentInUse >= 0);
    assert.ok(identity.status.summary().length > 0);
    assert.ok(identity.statusIndicator === null || identity.statusIndicator.length > 0);
  });
}

function movements<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("gives back exactly what was taken", () => {
    const subject = make();
    const { account, room } = subject;
    const all = times(subject, room);
    for (let round = 0; round < 3; round++) {
      assert.equal(account.tryTake(all, []), true, `round ${round}`);
      assert.equal(account.tryTake(times(subject, 1), []), false, `round ${round}`);
      account.give(all);
    }
    assert.equal(account.fits([...all, ...times(subject, 1)].slice(0, room), []), true);
  });

  it("takes one by one as much as at once", () => {
    const subject = make();
    for (let i = 0; i < subject.room; i++) {
      assert.equal(subject.account.tryTake(times(subject, 1), []), true, `take ${i}`);
    }
    assert.equal(subject.account.tryTake(times(subject, 1), []), false);
  });

  it("comes back by release or by time, and always says the same", () => {
    const { account } = make();
    assert.ok(account.replenishment === "RELEASE" || account.replenishment === "TIME");
    assert.equal(account.replenishment, account.replenishment);
  });
}

function waking<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("has one wake: the last one installed, none after null", () => {
    const subject = make();
    const { account } = subject;
    const runs: string[] = [];
    account.onCapacityChange(() => runs.push("first"));
    account.onCapacityChange(() => runs.push("second"));
    account.tryTake(times(subject, 1), []);
    account.give(times(subject, 1));
    assert.ok(!runs.includes("first"), "a replaced wake is never run");
    account.onCapacityChange(null);
    runs.length = 0;
    account.tryTake(times(subject, 1), []);
    account.give(times(subject, 1));
    assert.deepEqual(runs, [], "a cleared wake is never run");
  });

  it("hears of outcomes and of its line without a fault", () => {
    const { account, amount } = make();
    account.observeHeld?.(() => 0);
    account.onSuccess?.(amount);
  });
}

function inLine<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("admits a line in order of arrival, and never more than it has", async () => {
    const subject = make();
    const { clock, account, amount, room } = subject;
    const admission = new Admission({ memory: null, clock }).start();
    const order: number[] = [];
    let out = 0;
    const jobs = Array.from({ length: 3 * room + 2 }, async (_, index) => {
      const grant: Grant = await admission.admit(new Demand().add<T>(account, amount as never));
      order.push(index);
      out++;
      if (account.replenishment === "RELEASE") {
        assert.ok(out <= room, `${out} are out, ${room} is all there is`);
      }
      await Promise.resolve();
      out--;
      grant.release();
    });
    const done = Promise.all(jobs);
    for (let i = 0; i < 10_000 && order.length < jobs.length; i++) await clock.advance(100);
    await done;
    assert.deepEqual(order, [...order.keys()]);
    assert.equal(admission.queueSize, 0);
    admission.stop();
  });

  it("keeps what a rolled back grant returns", async () => {
    const subject = make();
    const { clock, account, amount, room } = subject;
    const admission = new Admission({ memory: null, clock }).start();
    const demand = new Demand();
    for (let i = 0; i < room; i++) demand.add<T>(account, amount as never);
    const grant = await admission.admit(demand);
    assert.equal(account.fits([amount], []), false);
    grant.rollback();
    assert.equal(account.fits(times(subject, room), []), true);
    admission.stop();
  });
}
