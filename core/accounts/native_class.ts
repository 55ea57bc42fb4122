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
