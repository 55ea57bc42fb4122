import {
  Admission,
  Demand,
  type Grant,
  type LimiterIdentity,
  type RateLimiter,
  UncorrectableError,
} from "../mod.ts";
import { checkIdentity, checkSnapshot } from "./check_identity.ts";
import { check, checkRunner, refuses, same, shown } from "./checks.ts";
import { instants } from "./contract_instants.ts";
import type { ManualClock } from "./manual_clock.ts";

/** The two functions of a test runner that a suite needs. */
export interface TestRunner {
  /** Opens a suite; `body` names its cases, at once. */
  describe(name: string, body: () => void): void;
  /** Adds a case; it fails when `body` throws or rejects. */
  it(name: string, body: () => void | Promise<void>): void;
}

/** A fresh account to be tested, with what the suite has to know of it. */
export interface ContractSubject<T> {
  /** Nobody has taken anything from it yet. */
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
 *
 * @throws TypeError when `make` is no function, or the runner lacks `describe` or `it`.
 */
export function rateLimiterContract<T>(name: string, make: MakeSubject<T>, runner: TestRunner): void {
  checkRunner("rateLimiterContract", runner);
  if (typeof make !== "function") {
    throw new TypeError(
      `Cannot make a suite: make is ${shown(make)}, it should be a function that makes a fresh subject`,
    );
  }
  runner.describe(`${name}, as an account`, () => {
    questions(make, runner);
    instants(make, runner);
    movements(make, runner);
    waking(make, runner);
    inLine(make, runner);
  });
}

function times<T>({ amount }: ContractSubject<T>, count: number): T[] {
  return new Array<T>(count).fill(amount);
}

/** Whether the answer is anything but false; a refusal is a no as well. */
function isYes(ask: () => unknown): boolean {
  try {
    return ask() !== false;
  } catch (error) {
    if (error instanceof UncorrectableError) return false;
    throw error;
  }
}

function questions<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("answers the same however often it is asked, and asking takes nothing", () => {
    const subject = make();
    const { account, room } = subject;
    const all = times(subject, room);
    for (let i = 0; i < 10; i++) same(account.fits(all, []), true, "fits() on the fresh account");
    same(account.tryTake(all, []), true, "tryTake() of what fits");
    for (let i = 0; i < 10; i++) {
      same(account.fits(times(subject, 1), []), false, "fits() on the full account");
    }
  });

  it("sets aside what is ahead, and never refuses for it", () => {
    const subject = make();
    const { account, room } = subject;
    same(account.fits(times(subject, 1), times(subject, room - 1)), true, "fits() beside what is ahead");
    same(account.fits(times(subject, 1), times(subject, room)), false, "fits() behind all there is");
    same(account.tryTake(times(subject, 1), times(subject, room)), false, "tryTake() behind all there is");
    same(account.tryTake(times(subject, room), []), true, "tryTake() of everything after a declined take");
  });

  it("refuses what can never fit, on the check and on the take, and takes nothing", () => {
    const subject = make();
    const { account, room, impossible } = subject;
    if (impossible === undefined) return;
    refuses(() => account.fits(impossible, []), UncorrectableError, "fits() of what can never fit");
    refuses(() => account.tryTake(impossible, []), UncorrectableError, "tryTake() of what can never fit");
    same(account.earliestFit(impossible, []), null, "earliestFit() of what can never fit");
    same(account.tryTake(times(subject, room), []), true, "tryTake() of everything after a refusal");
  });

  it("decides the amounts of one call together, and refuses none that fit another time", () => {
    const subject = make();
    const { account, room } = subject;
    check(
      !isYes(() => account.fits(times(subject, room + 1), [])),
      "fits() of one more than there is should be false",
    );
    check(
      !isYes(() => account.tryTake(times(subject, room + 1), [])),
      "tryTake() of one more than there is should be false",
    );
    same(account.tryTake(times(subject, 1), []), true, "tryTake() of one");
    same(account.fits(times(subject, room), []), false, "fits() of one more than is left");
    same(account.tryTake(times(subject, room), []), false, "tryTake() of one more than is left");
  });

  it("says what an amount debits, by a name that stays", () => {
    const subject = make();
    const { account, amount } = subject;
    const identity: LimiterIdentity = account.accountFor(amount);
    checkIdentity(identity);
    same(account.accountFor(amount), identity, "accountFor() of the same amount");
    checkSnapshot(identity, () => account.tryTake(times(subject, 1), []));
  });
}

function movements<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("gives back exactly what was taken", () => {
    const subject = make();
    const { account, room } = subject;
    const all = times(subject, room);
    for (let round = 0; round < 3; round++) {
      same(account.tryTake(all, []), true, `tryTake() of everything, round ${round}`);
      same(account.tryTake(times(subject, 1), []), false, `tryTake() of one more, round ${round}`);
      account.give(all);
    }
    same(account.fits(all, []), true, "fits() of everything after it was given back");
  });

  it("gives back no more than was given to it", () => {
    const subject = make();
    const { account, room } = subject;
    same(account.tryTake(times(subject, room), []), true, "tryTake() of everything");
    for (let back = 1; back <= room; back++) {
      account.give(times(subject, 1));
      same(account.fits(times(subject, back), []), true, `fits() of the ${back} given back`);
      if (back < room) same(account.fits(times(subject, back + 1), []), false, `fits() of more than ${back}`);
    }
  });

  it("takes its own amount alone, whatever is ahead", () => {
    const subject = make();
    const { account, room } = subject;
    if (room === 1) return;
    same(
      account.tryTake(times(subject, 1), times(subject, room - 1)),
      true,
      "tryTake() beside what is ahead",
    );
    same(account.tryTake(times(subject, room - 1), []), true, "tryTake() of what was ahead, afterwards");
  });

  it("takes one by one as much as at once", () => {
    const subject = make();
    for (let i = 0; i < subject.room; i++) {
      same(subject.account.tryTake(times(subject, 1), []), true, `take ${i}`);
    }
    same(subject.account.tryTake(times(subject, 1), []), false, "one more take");
  });

  it("comes back by release or by time, and always says the same", () => {
    const { account } = make();
    check(["RELEASE", "TIME"].includes(account.replenishment), "replenishment should be RELEASE or TIME");
    same(account.replenishment, make().account.replenishment, "replenishment of another such account");
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
    check(!runs.includes("first"), "a replaced wake should never be run");
    account.onCapacityChange(null);
    runs.length = 0;
    account.tryTake(times(subject, 1), []);
    account.give(times(subject, 1));
    same(runs.length, 0, "runs of a cleared wake");
  });

  it("wakes its line when something is given back to it past admission", async () => {
    const subject = make();
    const { clock, account, amount, room } = subject;
    const admission = new Admission({ memory: null, clock }).start();
    account.tryTake(times(subject, room), []);
    let isGranted = false;
    const waiting = admission.admit(new Demand().add<T>(account, amount as never)).then(() => {
      isGranted = true;
    }, () => {});
    await clock.advance(0);
    check(!isGranted, "nobody should be admitted to a full account");
    account.give(times(subject, room));
    await clock.advance(0);
    admission.stop();
    await waiting;
    check(isGranted, "give() should wake: capacityChanged() was not called, so the line went on waiting");
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
        check(out <= room, `${out} are out, ${room} is all there is`);
      }
      await Promise.resolve();
      out--;
      grant.release();
    });
    const done = Promise.all(jobs);
    let isOver = false;
    const end = () => void (isOver = true);
    done.then(end, end);
    for (let i = 0; i < 10_000 && !isOver; i++) await clock.advance(100);
    // Whoever still waits would wait for ever, and the case with it.
    if (!isOver) admission.stop();
    check(isOver, `all ${jobs.length} jobs should be admitted, ${order.length} were`);
    await done;
    check(
      order.every((job, place) => job === place),
      `jobs should go in order of arrival, they went ${order}`,
    );
    same(order.length, 3 * room + 2, "jobs admitted");
    same(admission.queueSize, 0, "queueSize at the end");
    admission.stop();
  });

  it("keeps what a rolled back grant returns", () => {
    const subject = make();
    const { clock, account, amount, room } = subject;
    const admission = new Admission({ memory: null, clock }).start();
    const demand = new Demand();
    for (let i = 0; i < room; i++) demand.add<T>(account, amount as never);
    const grant = admission.tryAdmit(demand);
    check(grant !== null, "a demand for everything should be granted on the fresh account");
    same(account.fits([amount], []), false, "fits() while a grant has everything");
    grant!.rollback();
    same(account.fits(times(subject, room), []), true, "fits() of everything after a rollback");
    admission.stop();
  });
}
