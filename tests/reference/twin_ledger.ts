// The accounts' half of the twin's border.

import * as layout from "../../assembly/layout.ts";
import { TwinAccount, TwinBucket, TwinGate } from "./twin_accounts.ts";
import { TwinWindow } from "./twin_window.ts";
import type { TwinLine } from "./twin_line.ts";

/** Accounts by handle, and which lines they wake. */
export class TwinLedger {
  protected accountLimit: number = layout.MAX_ACCOUNTS;
  wallMs = 0;
  protected lastHandle = 0;
  /** Woken lines; those that were granted something since they were last taken stand behind the others. */
  protected readonly hungry: TwinLine[] = [];
  protected readonly served: TwinLine[] = [];
  /** How many instants a window keeps apart. */
  protected readonly runs: { limit: number } = { limit: layout.MAX_RUNS };
  readonly #accounts = new Map<number, TwinAccount>();
  readonly #handles = new Map<TwinAccount, number>();

  openCustom(): number {
    return this.open(new TwinAccount());
  }

  openGate(capacity: number): number {
    return this.open(new TwinGate(capacity));
  }

  openBucket(tpm: number, rpm: number, now: number): number {
    return this.open(new TwinBucket(tpm, rpm, now));
  }

  openWindow(maxRequests: number, base: number): number {
    return this.open(new TwinWindow(maxRequests, base, this.runs));
  }

  closeAccount(account: number, wasCollected: number): void {
    const at = this.account(account);
    at.isCondemned = true;
    if (wasCollected !== 0) at.isCollected = true;
    this.freeIfUnnamed(at);
  }

  accountCount(): number {
    return this.#accounts.size;
  }

  accountGeneration(account: number): number {
    return this.#accounts.has(account) ? 0 : 1;
  }

  namedBy(account: number): number {
    const { waiterPins, held, grantPins } = this.account(account);
    return (waiterPins > 0 || held > 0 ? layout.NAMED_BY_WAITER : 0) |
      (grantPins > 0 ? layout.NAMED_BY_GRANT : 0);
  }

  setSlot(account: number, isInstalled: number): void {
    this.account(account).hasSlot = isInstalled !== 0;
  }

  touch(account: number): number {
    return this.gained(this.account(account));
  }

  heldOn(account: number): number {
    return this.account(account).held;
  }

  lastActivity(account: number): number {
    return this.account(account).lastActivity;
  }

  fits(
    account: number,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number {
    return this.account(account).fits(count, sum, aheadCount, aheadSum, now);
  }

  peek(
    account: number,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number {
    return this.account(account).peek(count, sum, aheadCount, aheadSum, now);
  }

  tryTake(
    account: number,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number {
    const at = this.account(account);
    const verdict = at.fits(count, sum, aheadCount, aheadSum, now);
    if (verdict !== layout.YES) return verdict;
    at.take(count, sum, now);
    at.lastActivity = this.wallMs;
    return verdict;
  }

  earliestFit(account: number, count: number, sum: number, now: number): number {
    return this.account(account).earliest(count, sum, now);
  }

  give(account: number, count: number, sum: number, now: number): number {
    return this.giveTo(this.account(account), count, sum, now);
  }

  gateInUse(account: number): number {
    return this.#gate(account).inUse;
  }

  resizeGate(account: number, capacity: number): number {
    const gate = this.#gate(account);
    const grew = capacity > gate.capacity;
    gate.capacity = capacity;
    return grew ? this.gained(gate) : 0;
  }

  bucketTokens(account: number, now: number): number {
    return this.#bucket(account).wholeTokens(now);
  }

  bucketRequests(account: number, now: number): number {
    return this.#bucket(account).wholeRequests(now);
  }

  bucketInUse(account: number, now: number): number {
    return this.#bucket(account).inUse(now);
  }

  bucketThrottle(account: number): number {
    return this.#bucket(account).throttleTenths;
  }

  configureBucket(account: number, tpm: number, rpm: number, now: number): number {
    const bucket = this.#bucket(account);
    return bucket.configure(tpm, rpm, now) ? this.gained(bucket) : 0;
  }

  slowDown(account: number, increments: number, now: number): void {
    this.#bucket(account).slowDown(increments, now);
  }

  succeed(account: number, now: number): number {
    const bucket = this.#bucket(account);
    return bucket.succeed(now) ? this.gained(bucket) : 0;
  }

  reconcile(account: number, difference: number, now: number): number {
    const bucket = this.#bucket(account);
    if (difference < 0) return this.#refund(bucket, -difference, now);
    bucket.charge(difference, now);
    return 0;
  }

  setPacing(account: number, ...pacing: Parameters<TwinWindow["setPacing"]>): void {
    this.#window(account).setPacing(...pacing);
  }

  setCircuit(account: number, ...circuit: Parameters<TwinWindow["setCircuit"]>): void {
    this.#window(account).setCircuit(...circuit);
  }

  limitRuns(runs: number): void {
    this.runs.limit = runs;
  }

  windowInUse(account: number, now: number): number {
    return this.#window(account).live(now).length;
  }

  windowThrottle(account: number): number {
    return this.#window(account).throttle;
  }

  windowLength(account: number): number {
    return this.#window(account).lengthMs;
  }

  windowCircuit(account: number): number {
    return this.#window(account).circuit;
  }

  windowCooldown(account: number, now: number): number {
    return this.#window(account).cooldownLeft(now);
  }

  windowAdvise(account: number, now: number): void {
    this.#window(account).advise(now);
  }

  windowFail(account: number, now: number): void {
    this.#window(account).fail(now);
  }

  windowSucceed(account: number, now: number): number {
    const window = this.#window(account);
    return window.succeed(now) ? this.gained(window) : 0;
  }

  wakeOthers(account: TwinAccount, except: TwinLine): void {
    for (const line of account.waitingLines.keys()) if (line !== except) this.wake(line);
  }

  setWallTime(ms: number): void {
    this.wallMs = ms;
  }

  takeWoken(): number {
    const line = this.hungry.shift() ?? this.served.shift();
    if (line === undefined) return 0;
    line.isWoken = false;
    line.isServed = false;
    return line.id;
  }

  #refund(bucket: TwinBucket, tokens: number, now: number): number {
    bucket.give(0, tokens, now);
    return this.gained(bucket);
  }

  protected giveTo(account: TwinAccount, count: number, sum: number, now: number): number {
    if (!account.give(count, sum, now)) return layout.GIVE_DECLINED;
    account.lastActivity = this.wallMs;
    return this.gained(account);
  }

  protected gained(account: TwinAccount): number {
    for (const line of account.waitingLines.keys()) this.wake(line);
    return (account.hasSlot ? layout.WAKE_SLOT : 0) | (account.waitingLines.size > 0 ? layout.WAKE_LINES : 0);
  }

  protected wake(line: TwinLine): void {
    if (line.isWoken) return;
    line.isWoken = true;
    (line.isServed ? this.served : this.hungry).push(line);
  }

  protected open(account: TwinAccount): number {
    if (this.#accounts.size >= this.accountLimit) return 0;
    const handle = ++this.lastHandle;
    this.#accounts.set(handle, account);
    this.#handles.set(account, handle);
    return handle;
  }

  protected freeIfUnnamed(account: TwinAccount): void {
    const isNamed = account.waiterPins > 0 || account.held > 0 ||
      (account.grantPins > 0 && !account.isCollected);
    if (account.isCondemned && !isNamed) this.#accounts.delete(this.#handles.get(account)!);
  }

  protected account(handle: number): TwinAccount {
    const account = this.#accounts.get(handle);
    if (account === undefined) throw new Error(`the twin has no account ${handle}`);
    return account;
  }

  #gate(handle: number): TwinGate {
    return this.account(handle) as TwinGate;
  }

  #bucket(handle: number): TwinBucket {
    return this.account(handle) as TwinBucket;
  }

  #window(handle: number): TwinWindow {
    return this.account(handle) as TwinWindow;
  }
}
