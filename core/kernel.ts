import * as layout from "../assembly/layout.ts";
import { KERNEL_BASE64 } from "./generated/kernel_bytes.ts";
import { InvalidStateError } from "./errors.ts";
import { messageOf } from "./faults.ts";
import { show } from "./invariant.ts";

/** Address of an account record in a kernel; 0 is none. */
export type AccountRecord = number;
/** Address of a line in a kernel; 0 is none. */
export type LineRecord = number;

/**
 * The border: numbers in, one number out. The WASM module implements it, and so does the plain reference twin of the tests.
 * Instants are whole ticks of 0.001 ms. What each function means is said in assembly/kernel.ts.
 */
export interface Kernel {
  /** Writes one cell of the demand that the next `attempt`, `park` or `settle` is about. */
  stage(index: number, limiter: AccountRecord, key: AccountRecord, count: number, sum: number): void;
  limits(waiters: number, accounts: number, lines: number): void;
  limitCohorts(cohorts: number): void;
  cohortCount(): number;
  setWallTime(ms: number): void;

  openLine(memory: AccountRecord): LineRecord;
  closeLine(line: LineRecord): void;
  queueSize(line: LineRecord): number;
  headSlot(line: LineRecord): number;
  takeWoken(): LineRecord;

  attempt(line: LineRecord, count: number, now: number, reading: number): number;
  attemptOne(
    line: LineRecord,
    limiter: AccountRecord,
    count: number,
    sum: number,
    now: number,
    reading: number,
  ): number;
  attemptRefusal(): number;
  park(line: LineRecord, count: number): number;
  generationOf(slot: number): number;
  withdraw(slot: number, generation: number): number;
  begin(line: LineRecord, isInline: number, wantsHeld: number, now: number, reading: number): number;
  next(line: LineRecord): number;
  answer(line: LineRecord, verdict: number, instant: number): number;
  abandon(line: LineRecord): void;
  deadline(line: LineRecord): number;
  laterDeadline(line: LineRecord): number;
  askedVerb(line: LineRecord): number;
  askedEntry(line: LineRecord): number;
  wasAlone(line: LineRecord): number;
  refusedReason(line: LineRecord): number;
  refusedEntry(line: LineRecord, slot: number): number;

  heldSince(slot: number, entry: number): number;
  lowerNextHold(slot: number, order: number): number;
  recycle(slot: number): void;

  settle(count: number, everything: number, now: number): number;
  settleOne(limiter: AccountRecord, count: number, sum: number, everything: number, now: number): number;

  openCustom(): AccountRecord;
  openGate(capacity: number): AccountRecord;
  openBucket(tpm: number, rpm: number, now: number): AccountRecord;
  openWindow(maxRequests: number, base: number): AccountRecord;
  closeAccount(account: AccountRecord, wasCollected: number): void;
  accountCount(): number;
  accountGeneration(account: AccountRecord): number;
  namedBy(account: AccountRecord): number;
  setSlot(account: AccountRecord, isInstalled: number): void;
  touch(account: AccountRecord): number;
  heldOn(account: AccountRecord): number;
  lastActivity(account: AccountRecord): number;
  fits(
    account: AccountRecord,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number;
  peek(
    account: AccountRecord,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number;
  tryTake(
    account: AccountRecord,
    count: number,
    sum: number,
    aheadCount: number,
    aheadSum: number,
    now: number,
  ): number;
  earliestFit(account: AccountRecord, count: number, sum: number, now: number): number;
  give(account: AccountRecord, count: number, sum: number, now: number): number;
  gateInUse(account: AccountRecord): number;
  resizeGate(account: AccountRecord, capacity: number): number;
  bucketTokens(account: AccountRecord, now: number): number;
  bucketRequests(account: AccountRecord, now: number): number;
  bucketInUse(account: AccountRecord, now: number): number;
  bucketThrottle(account: AccountRecord): number;
  configureBucket(account: AccountRecord, tpm: number, rpm: number, now: number): number;
  slowDown(account: AccountRecord, increments: number, now: number): void;
  succeed(account: AccountRecord, now: number): number;
  reconcile(account: AccountRecord, difference: number, now: number): number;

  setPacing(
    account: AccountRecord,
    increment: number,
    decrement: number,
    recovery: number,
    maxThrottle: number,
    successesPerStep: number,
    recoveryTicks: number,
  ): void;
  setCircuit(
    account: AccountRecord,
    failuresToBlock: number,
    initialCooldown: number,
    maxCooldown: number,
    probeTimeout: number,
  ): void;
  limitRuns(runs: number): void;
  windowInUse(account: AccountRecord, now: number): number;
  windowThrottle(account: AccountRecord): number;
  windowLength(account: AccountRecord): number;
  windowCircuit(account: AccountRecord): number;
  windowCooldown(account: AccountRecord, now: number): number;
  windowAdvise(account: AccountRecord, now: number): void;
  windowFail(account: AccountRecord, now: number): void;
  windowSucceed(account: AccountRecord, now: number): number;
  openMemory(): AccountRecord;
  memoryFits(account: AccountRecord, now: number, reading: number): number;
  memoryTake(account: AccountRecord, now: number, reading: number): number;
  memoryEarliest(account: AccountRecord, now: number, reading: number): number;
  memoryWouldFit(account: AccountRecord, now: number, reading: number): number;
  memoryWouldFitAt(account: AccountRecord, now: number, reading: number): number;
  memoryStop(account: AccountRecord): number;
  memoryHoldElsewhere(account: AccountRecord, count: number): void;
  takeLatchTurns(account: AccountRecord): number;
  memoryIsLatched(account: AccountRecord): number;
  memoryHeld(account: AccountRecord): number;
  memoryFloor(account: AccountRecord, reading: number): number;
  memoryPenalty(account: AccountRecord, reading: number): number;
  memoryPacing(account: AccountRecord, now: number, reading: number): number;
}

type KernelExports = Omit<Kernel, "stage"> & { memory: WebAssembly.Memory; staging(): number };

let injected: WebAssembly.Module | null = null;
let compiled: WebAssembly.Module | null = null;

/**
 * Supplies the compiled kernel on runtimes that forbid compiling while a request is handled. Call it before the first
 * account or Admission is used.
 *
 * @param module a WebAssembly.Module; as an object here, because a program without the DOM's types has no name for it.
 * @throws TypeError when the argument is not a WebAssembly.Module.
 */
export function setKernelModule(module: object): void {
  if (!(module instanceof WebAssembly.Module)) {
    throw new TypeError(
      `Cannot set the kernel module: it is ${
        show(module)
      }, it should be a WebAssembly.Module, such as an imported .wasm file`,
    );
  }
  injected = module;
}

function kernelModule(): WebAssembly.Module {
  if (injected !== null) return injected;
  return compiled ??= compile();
}

/** @throws InvalidStateError where the runtime forbids it: in handlers of Workers, and under some policies of browsers. */
function compile(): WebAssembly.Module {
  const bytes = decodeBase64(KERNEL_BASE64);
  try {
    return new WebAssembly.Module(bytes);
  } catch (fault) {
    throw new InvalidStateError(
      `Cannot compile the kernel: this runtime forbids it here (${
        messageOf(fault)
      }), hand a compiled one to setKernelModule() before anything else`,
      { cause: fault },
    );
  }
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** The memory of the latest kernel. */
let latestMemory: WebAssembly.Memory | null = null;

/** Bytes of the kernel's linear memory, which V8 does not count as heap; 0 before there is a kernel. */
export function kernelMemoryBytes(): number {
  return latestMemory === null ? 0 : latestMemory.buffer.byteLength;
}

/** A kernel with the buffer of its memory; a program without the DOM's types can read this declaration. */
type WasmKernel = Kernel & { readonly memory: { readonly buffer: ArrayBufferLike } };

/** A fresh WASM kernel. Costs about a millisecond the first time in a process. */
export function wasmKernel(): WasmKernel {
  const exports = new WebAssembly.Instance(kernelModule(), {}).exports as unknown as KernelExports;
  const { memory } = exports;
  latestMemory = memory;
  const staging = exports.staging();
  let words = new Int32Array(memory.buffer, staging);
  let sums = new Float64Array(memory.buffer, staging);
  const wordsPerCell = layout.STAGED_BYTES / 4;
  const sumsPerCell = layout.STAGED_BYTES / 8;

  const stage: Kernel["stage"] = (index, limiter, key, count, sum) => {
    // Growing memory detaches the views; a detached view has length 0.
    if (words.length === 0) {
      words = new Int32Array(memory.buffer, staging);
      sums = new Float64Array(memory.buffer, staging);
    }
    const at = index * wordsPerCell;
    words[at + layout.STAGED_LIMITER / 4] = limiter;
    words[at + layout.STAGED_KEY / 4] = key;
    words[at + layout.STAGED_COUNT / 4] = count;
    sums[index * sumsPerCell + layout.STAGED_SUM / 8] = sum;
  };
  return { ...exports, memory, stage };
}
