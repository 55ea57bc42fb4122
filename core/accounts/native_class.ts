import type { NativeAccount } from "./native.ts";
import type { Tally } from "./refusals.ts";
import type { Clock } from "../clock.ts";
import type { UncorrectableError } from "../errors.ts";
import type { KernelHost } from "../host.ts";
import type { AccountRecord, Kernel } from "../kernel.ts";

/** How the accounts of one class stand in the kernel. A class hands it to its base, so that no subclass can reach it. */
export interface NativeClass<A, T> {
  /** The class whose verbs the kernel knows. */
  readonly prototype: object;
  /** Whether answers depend on time; such an account must share its Admission's clock. */
  readonly readsClock: boolean;
  /** Opens the record in a kernel. */
  openRecord(account: A, kernel: Kernel, nowTicks: number): AccountRecord;
  /** Checks amounts and adds them up. @throws TypeError or RangeError naming the account and the amount. */
  tally(account: A, amounts: readonly T[]): Tally;
  /** The error for what the kernel refused with a verdict of NEVER_PERMITS or more; `neverError` when left out. */
  refusal?(account: A, asked: Tally, verdict: number): UncorrectableError;
  /** Whether an account answers now, and from now on, as one that was just made; never when left out. */
  isLikeNew?(account: A): boolean;
}

/** What the built-in classes use of their base. Functions: a subclass may have a `read` or a `call` of its own. */
export interface NativeBase {
  /** Calls the kernel on an account's record; a trap closes the kernel. */
  call<R>(account: NativeAccount<never>, operation: (record: AccountRecord, kernel: Kernel) => R): R;
  /**
   * Reads a number of an account's record. A disposed account still tells it while a waiter or a grant names it, so that
   * events can be reported; after that it answers `idle`.
   */
  read(
    account: NativeAccount<never>,
    operation: (record: AccountRecord, kernel: Kernel) => number,
    idle: number,
  ): number;
  /** Wakes lines and the public wake as the kernel's answer says. */
  wakeAll(account: NativeAccount<never>, bits: number): void;
  /** An account's clock, in ticks; 0 for one that reads no clock. */
  nowTicks(account: NativeAccount<never>): number;
  /** An account's clock, wall time in ms since 1970. */
  wallNow(account: NativeAccount<never>): number;
  /** Wall time of the turn of the last take or give; before the first, of construction. */
  lastActivity(account: NativeAccount<never>): number;
}

/** What a demand needs to know of a built-in account. */
export interface NativeBinding {
  host: KernelHost;
  record: AccountRecord;
  /** Null for an account that reads no clock. */
  clock: Clock | null;
  /** Whether the kernel asks the record itself; a subclass that overrides a verb is asked like a custom account. */
  isNative: boolean;
}

/** What the keeper of many built-in accounts may do with each of them. */
export interface Keeping {
  /** Whether its kernel lives and it was not disposed. */
  isUsable(account: NativeAccount<never>): boolean;
  /** Whether it answers with the verbs of its built-in class, so that the kernel answers for it. */
  isNative(account: NativeAccount<never>): boolean;
  /** Whether it answers now, and from now on, as one that was just made. This is a use, of which a watch hears. */
  isLikeNew(account: NativeAccount<never>): boolean;
  /** NAMED_BY_ bits: whether a waiter, or a grant that is not settled, names it; 0 for one that is not usable. */
  namedBy(account: NativeAccount<never>): number;
  /** Installs what runs before the next use, told whether somebody may take from it then; null clears it. */
  watch(account: NativeAccount<never>, onUse: ((isAsked: boolean) => void) | null): void;
  /** Gives the kernel record of an account up that is like new and that nobody names: the next use opens another. */
  letGo(account: NativeAccount<never>): void;
}
