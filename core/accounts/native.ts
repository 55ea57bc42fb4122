import { AbstractRateLimiter, type LimiterIdentity } from "../account.ts";
import { type Clock, systemClock, toMs, toTicks, turnWallNow } from "../clock.ts";
import { InvalidStateError, type UncorrectableError } from "../errors.ts";
import { currentHost, type KernelHost, opened } from "../host.ts";
import type { AccountRecord, Kernel } from "../kernel.ts";
import { noteDisposal } from "./disposals.ts";
import { checkMaking, disposed } from "./native_checks.ts";
import type { Keeping, NativeBase, NativeBinding, NativeClass } from "./native_class.ts";
import { usesVerbsOf } from "./native_verbs.ts";
import { invariant, show } from "../invariant.ts";
import { neverError, type Tally } from "./refusals.ts";
import { GIVE_DECLINED, NEVER_PERMITS, WAKE_SLOT, YES } from "../../assembly/layout.ts";

/** What the built-in classes use of their base. */
export let base: NativeBase;
/** What a keeper of accounts may do with them. */
export let keeping: Keeping;
let bind: (account: NativeAccount<unknown>, isAsked: boolean) => NativeBinding;
let wakeSlot: (account: NativeAccount<unknown>) => void;
let hasRecord: (account: NativeAccount<unknown>) => boolean;
let refuse: (account: NativeAccount<unknown>, asked: Tally, verdict: number) => UncorrectableError;

/**
 * The kernel record behind a built-in account, made on first use; null for any other account. `isAsked`: whether it is for a
 * demand that may take from it.
 */
export function nativeBinding(limiter: object, isAsked = true): NativeBinding | null {
  return limiter instanceof NativeAccount ? bind(limiter, isAsked) : null;
}

/** Whether an account is a built-in one that was disposed and that no waiter and no grant names any more. */
export function isFreed(limiter: object): boolean {
  return limiter instanceof NativeAccount && !hasRecord(limiter);
}

/** Runs the public wake of a built-in account, if one is installed. */
export function runPublicWake(limiter: object): void {
  if (limiter instanceof NativeAccount) wakeSlot(limiter);
}

/**
 * What the built-in accounts share: the numbers live in the kernel, and this object gives them a name, a clock and the verbs.
 *
 * A type only, so it cannot be extended: extend a built-in account, or AbstractRateLimiter for a limit of your own. A
 * subclass that overrides a verb is asked by admission as a custom account is.
 */
export abstract class NativeAccount<T> extends AbstractRateLimiter<T> implements LimiterIdentity, Disposable {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #class: NativeClass<NativeAccount<T>, T>;
  readonly #createdAt: number;
  #binding: NativeBinding | null = null;
  #generation = 0;
  #hasSlot = false;
  #isDisposed = false;
  #onUse: ((isAsked: boolean) => void) | null = null;

  static {
    bind = (account, isAsked) => account.#bindForDemand(isAsked);
    wakeSlot = (account) => account.#runSlot();
    refuse = (account, asked, verdict) => account.#refusal(asked, verdict);
    hasRecord = (account) => !account.#isDisposed || account.#read(() => 1, 0) === 1;
    base = {
      call: (account, operation) => account.#call(operation),
      read: (account, operation, idle) => account.#read(operation, idle),
      wakeAll: (account, bits) => account.#wakeAll(bits, true),
      nowTicks: (account) => account.#nowTicks(),
      wallNow: (account) => account.#clock.wallNow(),
      lastActivity: (account) => account.#lastActivity(),
    };
    keeping = {
      isUsable: (account) => account.#isUsable,
      isNative: (account) => usesVerbsOf(account, account.#class.prototype),
      isLikeNew: (account) => account.#isLikeNew(),
      namedBy: (account) => account.#namedBy(),
      watch: (account, onUse) => {
        account.#onUse = onUse;
        // Demands that know the record have to come through `#bind` again.
        if (onUse !== null) noteDisposal();
      },
      letGo: (account) => account.#letGo(),
    };
  }

  /**
   * For the built-in classes.
   *
   * @throws TypeError when the name is not a non-empty string or the clock is not a Clock.
   * @internal
   */
  constructor(name: string, its: NativeClass<NativeAccount<T>, T>, clock: Clock = systemClock) {
    super();
    checkMaking(new.target.name, name, clock);
    this.#name = name;
    this.#class = its;
    this.#clock = clock;
    this.#createdAt = turnWallNow(clock);
  }

  /** The name that it was made with. */
  override get limiterName(): string {
    return this.#name;
  }

  /**
   * Whether `mine` fits now with `ahead` set aside. Changes nothing.
   *
   * @throws UncorrectableError when `mine` alone can never fit, or the account refuses everyone; TypeError or RangeError for
   * an amount that is none; InvalidStateError once disposed.
   */
  override fits(mine: readonly T[], ahead: readonly T[]): boolean {
    return this.#ask("fits", mine, ahead);
  }

  /** Takes `mine` if it fits now with `ahead` set aside: true when taken. @throws as `fits`. */
  override tryTake(mine: readonly T[], ahead: readonly T[]): boolean {
    return this.#ask("tryTake", mine, ahead);
  }

  /**
   * Credits, and wakes whoever waits on this account.
   *
   * @throws InvalidStateError on a gate for more permits than are in use, and once disposed; TypeError or RangeError for an
   * amount that is none. Nothing is credited then.
   */
  override give(amounts: readonly T[]): void {
    const { count, sum } = this.#class.tally(this, amounts);
    this.#use().stampWall(this.#clock);
    const bits = this.#call((record, kernel) => kernel.give(record, count, sum, this.#nowTicks()));
    if ((bits & GIVE_DECLINED) !== 0) {
      const given = `it gets ${count} and has ${this.currentInUse} in use, give back what was taken, once`;
      throw new InvalidStateError(`Cannot give permits back to ${show(this.#name)}: ${given}`);
    }
    this.#wakeAll(bits, false);
  }

  /**
   * The instant, in ms on the account's clock, at which both lists together fit by the clock alone: now when they fit
   * already, null when they never do so. A gate always answers null.
   *
   * @throws TypeError or RangeError for an amount that is none; InvalidStateError once disposed.
   */
  override earliestFit(mine: readonly T[], ahead: readonly T[]): number | null {
    const own = this.#class.tally(this, mine);
    const reserved = this.#class.tally(this, ahead);
    const { kernel } = this.#use();
    const ticks = this.#call((record) =>
      kernel.earliestFit(record, own.count + reserved.count, own.sum + reserved.sum, this.#nowTicks())
    );
    return Number.isFinite(ticks) ? toMs(ticks) : null;
  }

  /** Installs the public wake; admissions that use this account are woken without it. */
  override onCapacityChange(wake: (() => void) | null): void {
    super.onCapacityChange(wake);
    this.#hasSlot = wake !== null;
    this.#onUse?.(false);
    const binding = this.#binding;
    // The record of a disposed account may be another account's by now.
    if (binding === null || this.#isDisposed || binding.host.defect !== null) return;
    binding.host.kernel.setSlot(binding.record, this.#hasSlot ? 1 : 0);
  }

  /**
   * Frees the kernel record once no waiter and no grant names it. Afterwards every verb and every new demand on the account
   * is refused with InvalidStateError; readings go on until it is freed, and show an unused account then. An account that is
   * simply dropped is freed when it is collected; one that overrides a verb is freed only so.
   */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    noteDisposal();
    const binding = this.#binding;
    if (binding === null || binding.host.defect !== null || !binding.isNative) return;
    binding.host.closeRecord(this, binding.record);
  }

  /** `dispose`, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Tells everyone who waits on this account that it gained room. */
  protected override capacityChanged(): void {
    const { kernel } = this.#use();
    this.#wakeAll(this.#call((record) => kernel.touch(record)), false);
  }

  #call<R>(operation: (record: AccountRecord, kernel: Kernel) => R): R {
    const { host, record } = this.#bind();
    return host.guard((kernel) => operation(record, kernel));
  }

  #read(operation: (record: AccountRecord, kernel: Kernel) => number, idle: number): number {
    const binding = this.#binding;
    if (!this.#isDisposed) return this.#call(operation);
    if (binding === null) return idle;
    const { host, record } = binding;
    return host.guard((kernel) =>
      kernel.accountGeneration(record) === this.#generation ? operation(record, kernel) : idle
    );
  }

  #nowTicks(): number {
    return this.#class.readsClock ? toTicks(this.#clock.now()) : 0;
  }

  #lastActivity(): number {
    const stamp = this.#read((record, kernel) => kernel.lastActivity(record), 0);
    return stamp === 0 ? this.#createdAt : stamp;
  }

  #refusal(asked: Tally, verdict: number): UncorrectableError {
    return this.#class.refusal?.(this, asked, verdict) ?? neverError(this, asked, verdict);
  }

  /** What a failed attempt gives back is no news. */
  #wakeAll(bits: number, isNews: boolean): void {
    this.#use().deliverWakes(bits, isNews);
    if ((bits & WAKE_SLOT) !== 0) this.#runSlot();
  }

  #ask(verb: "fits" | "tryTake", mine: readonly T[], ahead: readonly T[]): boolean {
    const own = this.#class.tally(this, mine);
    const reserved = this.#class.tally(this, ahead);
    const { kernel } = this.#bind(true).host;
    if (verb === "tryTake") this.#use().stampWall(this.#clock);
    const verdict = this.#call((record) =>
      kernel[verb](record, own.count, own.sum, reserved.count, reserved.sum, this.#nowTicks())
    );
    if (verdict >= NEVER_PERMITS) throw this.#refusal(own, verdict);
    return verdict === YES;
  }

  #use(): KernelHost {
    return this.#bind().host;
  }

  #bindForDemand(isAsked: boolean): NativeBinding {
    if (this.#isDisposed) throw disposed(this.#name);
    return this.#bind(isAsked);
  }

  #bind(isAsked = false): NativeBinding {
    // Waiters and grants of a subclass that overrides a verb are asked and settled through it to the end.
    if (this.#isDisposed && this.#binding?.isNative !== false) throw disposed(this.#name);
    this.#onUse?.(isAsked);
    const binding = this.#binding ?? this.#open();
    binding.host.assertSound();
    return binding;
  }

  get #isUsable(): boolean {
    return !this.#isDisposed && (this.#binding?.host.defect ?? null) === null;
  }

  #isLikeNew(): boolean {
    return !this.#hasSlot && (this.#binding === null || this.#class.isLikeNew?.(this) === true);
  }

  #namedBy(): number {
    const binding = this.#binding;
    if (binding === null || !this.#isUsable) return 0;
    return binding.host.guard((kernel) => kernel.namedBy(binding.record));
  }

  #letGo(): void {
    const binding = this.#binding;
    if (binding === null) return;
    this.#binding = null;
    noteDisposal();
    binding.host.forgetRecord(this, binding.record);
  }

  #open(): NativeBinding {
    const host = currentHost();
    const record = opened(
      host.guard((kernel) => this.#class.openRecord(this, kernel, this.#nowTicks())),
      show(this.#name),
    );
    host.adopt(this, record);
    this.#generation = host.kernel.accountGeneration(record);
    if (this.#hasSlot) host.kernel.setSlot(record, 1);
    const isNative = usesVerbsOf(this, this.#class.prototype);
    this.#binding = { host, record, clock: this.#class.readsClock ? this.#clock : null, isNative };
    return this.#binding;
  }

  #runSlot(): void {
    super.capacityChanged();
  }
}

/** The error for a demand that an account refuses, as the kernel's verdict says. */
export function refusal(account: LimiterIdentity, asked: Tally, verdict: number): UncorrectableError {
  invariant(account instanceof NativeAccount, "the kernel refuses for built-in accounts only");
  return refuse(account, asked, verdict);
}
