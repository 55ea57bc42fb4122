import {
  foreseeMemory,
  keptHeap,
  MemoryPressureGate,
  sampleHeap,
  tellLatchTurns,
} from "./accounts/memory_pressure_gate.ts";
import { nativeBinding, runPublicWake } from "./accounts/native.ts";
import { type Clock, systemClock } from "./clock.ts";
import { InvalidStateError } from "./errors.ts";
import { currentHost, type KernelHost } from "./host.ts";
import { runtimeHeapReader } from "./heap.ts";
import { show } from "./invariant.ts";
import type { AccountRecord } from "./kernel.ts";
import type { Logger } from "./logger.ts";
import type { MemoryAccount } from "./options.ts";
import type { Wirings } from "./wiring.ts";
import { WAKE_SLOT } from "../assembly/layout.ts";

/** What an Admission knows of its memory account. A gate that is built in is decided by the kernel, with a reading from here. */
export class MemoryLink {
  readonly account: MemoryAccount | null;
  /** The account when the kernel decides it alone. */
  readonly gate: MemoryPressureGate | null;
  /** 0 for none. */
  readonly record: AccountRecord;
  readonly #host: KernelHost;
  readonly #logger: Logger;
  /** The clock that a built-in account reads; null for any other. */
  readonly #clock: Clock | null;

  /** @throws InvalidStateError when the account was disposed, lives in another kernel, or the kernel's tables are full. */
  constructor(account: MemoryAccount | null, host: KernelHost, logger: Logger) {
    const binding = account === null ? null : nativeBinding(account);
    if (binding !== null && binding.host !== host) {
      throw new InvalidStateError(
        "Cannot make an Admission: its memory account lives in another kernel, which trapped. Make that account anew.",
      );
    }
    this.account = account;
    this.gate = account instanceof MemoryPressureGate && binding?.isNative ? account : null;
    this.#host = host;
    this.#logger = logger;
    this.#clock = binding?.clock ?? null;
    this.record = account === null ? 0 : this.gate === null ? host.customRecord(account) : binding!.record;
  }

  /** Whether a demand with that many entries meets a gate that the kernel decides. */
  isDecidedFor(entries: number): boolean {
    return this.gate !== null && entries > 0;
  }

  /** Whether the kernel needs nobody to decide a demand with that many entries as far as memory goes. */
  isPlainFor(entries: number): boolean {
    return this.gate !== null || this.account === null || entries === 0;
  }

  /** @throws InvalidStateError when a built-in account reads another clock than its Admission. */
  checkClock(clock: Clock): void {
    if (this.#clock === null || this.#clock === clock) return;
    throw new InvalidStateError(
      `Cannot admit: the memory account ${
        show(this.account!.limiterName)
      } reads another clock than this Admission, give both the same clock`,
    );
  }

  /** The wake and the held view of an account outside the kernel; a built-in one gets its view only if it looks at it. */
  wire(wirings: Wirings): void {
    const { account, gate } = this;
    if (account === null) return;
    if (gate?.observeHeld === MemoryPressureGate.prototype.observeHeld) return;
    wirings.wireAccount(account, account, gate === null);
  }

  /** The heap for a step that begins at this instant; NaN where the kernel needs none. May call the user's reader. */
  reading(nowTicks: number): number {
    return this.gate === null ? NaN : sampleHeap(this.gate, nowTicks, this.#logger);
  }

  /** The same where a reading is kept that still serves, so that nobody's code is called; null where there is none. */
  keptReading(nowTicks: number): number | null {
    return this.gate === null ? NaN : keptHeap(this.gate, nowTicks);
  }

  /** After a step: how often the latch turned since this was last asked. */
  takeTurns(): number {
    return this.gate === null || this.#host.defect !== null
      ? 0
      : this.#host.kernel.takeLatchTurns(this.record);
  }

  /** Tells of the latch's last turns. */
  tellTurns(turns: number): void {
    if (turns > 0) tellLatchTurns(this.gate!, turns, this.#logger);
  }

  /** What the gate would say now, changing nothing. */
  foresee(nowTicks: number): { fits: boolean; atTicks: number } {
    return foreseeMemory(this.gate!, nowTicks);
  }

  /** A job with entries finished. */
  giveBack(): void {
    const { gate, account, record } = this;
    if (gate === null) return account?.give([]);
    const bits = this.#host.guard((kernel) => kernel.give(record, 0, 0, 0));
    this.#host.deliverWakes(bits);
    if ((bits & WAKE_SLOT) !== 0) runPublicWake(gate);
  }
}

/** @throws TypeError when a demand is to name a memory gate. */
export function refuseMemory(limiter: object): void {
  if (!(limiter instanceof MemoryPressureGate)) return;
  throw new TypeError(
    `Cannot add to the demand: ${
      show(limiter.limiterName)
    } is a memory account, which every demand meets first; ` +
      "give it to the Admission as its memory",
  );
}

/** One gate for all Admissions that share a kernel and a clock, as they share one heap. */
const defaults = new WeakMap<KernelHost, WeakMap<Clock, MemoryPressureGate>>();

let hasReader: boolean | null = null;

/** The memory account of an Admission that was given none: null where the runtime's heap cannot be read. */
export function defaultMemory(clock: Clock = systemClock): MemoryPressureGate | null {
  hasReader ??= runtimeHeapReader(null) !== null;
  if (!hasReader) return null;
  const host = currentHost();
  const byClock = defaults.get(host) ?? new WeakMap<Clock, MemoryPressureGate>();
  defaults.set(host, byClock);
  const gate = byClock.get(clock) ?? new MemoryPressureGate({ clock });
  byClock.set(clock, gate);
  return gate;
}
