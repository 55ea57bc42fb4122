// The kernel's records. Each has a byte table above it and a compile-time check of its size below. Records are linked by
// pointers; a pointer to an account or a line is also its handle at the border, because records never move.

import { ACCOUNT_BYTES, RUN_BYTES } from "./layout";
import { Cell, Part, Wire } from "./line_records";

// Account: what every kind has. Gate, Bucket, Window and Memory go on from byte 56.
//    0 kind, 4 generation, 8 flags, 12 held, 16 waiterPins, 20 grantPins, 24 wires, 28 nextFree, 32 lastActivity,
//    40 parts, 44 ahead, 48 visited
// @ts-ignore: decorator
@unmanaged
export class Account {
  kind: i32;
  /** Goes up when the record is freed, so that a stale holder can tell. */
  generation: i32;
  flags: i32;
  /** Waiters held on this account now, over all lines. */
  held: i32;
  /** Cells of parked waiters that name this account. */
  waiterPins: i32;
  /** Entries of unsettled grants that name this account. */
  grantPins: i32;
  /** Which lines have waiters that name this account, for waking. */
  wires: Wire | null;
  nextFree: Account | null;
  /** Wall time in ms of the event-loop turn of the last take or give. */
  lastActivity: f64;
  /** The parts of classes that name this account. */
  parts: Part | null;
  /** While classes are weighed: what the head sets aside here. */
  ahead: Cell | null;
  /** As of which look every class that names the account is known to have changed: see stale.ts. */
  visited: i32;
  reserved: i32;
}

// Gate: 56 capacity, 60 inUse
// @ts-ignore: decorator
@unmanaged
export class Gate extends Account {
  capacity: i32;
  inUse: i32;
}

// Level: one refilling quantity, a part of a bucket: 0 cap, 8 whole, 16 fraction (in 1/window of a unit).
// @ts-ignore: decorator
@unmanaged
export class Level {
  cap: i64;
  whole: i64;
  fraction: i64;
}

// Bucket: 56 anchor, 64 window, 72 token level, 96 request level, 120 lastSlowDown, 128 throttle, 132 successes,
//         136 seenAt, 144 tokensSeen, 152 requestsSeen
// @ts-ignore: decorator
@unmanaged
export class Bucket extends Account {
  /** Tick at which the two levels below were exact; only a take, a give or a change of rate moves it. */
  anchor: f64;
  /** Ticks in which an empty level refills to its cap: a minute, stretched by the throttle. */
  window: i64;
  tokenCap: i64;
  tokenWhole: i64;
  tokenFraction: i64;
  requestCap: i64;
  requestWhole: i64;
  requestFraction: i64;
  lastSlowDown: f64;
  /** In tenths: 5 is a throttle of 0.5. */
  throttle: i32;
  successes: i32;
  /** Cache: the tick of the last reading, and what it showed. NaN when the anchor has moved since. */
  seenAt: f64;
  tokensSeen: f64;
  requestsSeen: f64;
}

// Window: 56 maxRequests, 60 circuit, 64 throttle, 68 increment, 72 decrement, 76 recovery, 80 maxThrottle,
//         84 successesPerStep, 88 successes, 92 streak, 96 failuresToBlock, 100 ringBits, 104 ring, 108 first, 112 runs,
//         120 base, 128 length, 136 recoveryTicks, 144 lastPressure, 152 cooldown, 160 blockedUntil, 168 probedAt,
//         176 initialCooldown, 184 maxCooldown, 192 probeTimeout, 200 taken, 208 gone, 216 seenAt, 224 goneSeen
// Throttles are in 1/THROTTLE_UNITS, instants and spans in ticks, the base in ms.
// @ts-ignore: decorator
@unmanaged
export class Window extends Account {
  maxRequests: i32;
  circuit: i32;
  throttle: i32;
  increment: i32;
  decrement: i32;
  /** What a success takes off the throttle once the pressure is long gone. */
  recovery: i32;
  maxThrottle: i32;
  successesPerStep: i32;
  /** Since the last relaxation, while the throttle is above 0. */
  successes: i32;
  /** Failures at the maximum throttle since the last success. */
  streak: i32;
  failuresToBlock: i32;
  /** The ring has room for 2^ringBits runs. */
  ringBits: i32;
  ring: usize;
  first: i32;
  runs: i32;
  base: f64;
  /** The effective window of the moment. */
  length: f64;
  recoveryTicks: f64;
  lastPressure: f64;
  /** Of the last opening; 0 since the circuit closed. */
  cooldown: f64;
  blockedUntil: f64;
  probedAt: f64;
  initialCooldown: f64;
  maxCooldown: f64;
  probeTimeout: f64;
  /** Slots taken so far, over the account's life; those given back do not count. */
  taken: f64;
  /** Of these, slots whose stamps were dropped because they went out of date. */
  gone: f64;
  /** Cache: the tick of the last reading, and how many slots were gone then. NaN when stamps or length changed since. */
  seenAt: f64;
  goneSeen: f64;
}

// Run: 0 instant, 8 upTo. The stamps of one instant in the ring of a window.
// @ts-ignore: decorator
@unmanaged
export class Run {
  instant: f64;
  /** Slots taken by the window up to this run and with it, in the count of `taken`. */
  upTo: f64;
}

// Memory: 56 lastRelease, 64 previous, 72 floor, 80 floorAtLast, 88 floorBeforeLast, 96 penalty, 104 isLatched,
//         108 hasCompletion, 112 isStopped, 116 turns, 120 heldElsewhere, 124 reserved. NaN stands for "none yet".
// @ts-ignore: decorator
@unmanaged
export class Memory extends Account {
  /** Tick of the last release. */
  lastRelease: f64;
  /** The reading of the last look. */
  previous: f64;
  /** The first reading, then the last one that was lower than the one before it: the heap after a collection. */
  floor: f64;
  floorAtLast: f64;
  floorBeforeLast: f64;
  /** The growth penalty as of the last release. */
  penalty: f64;
  isLatched: i32;
  /** Whether a job finished since the last release. */
  hasCompletion: i32;
  isStopped: i32;
  /** How often the latch has turned since the shell last asked. */
  turns: i32;
  /** How many a host that is no line of this kernel holds on it. */
  heldElsewhere: i32;
  reserved2: i32;
}

export const FLAG_CONDEMNED: i32 = 1;
export const FLAG_COLLECTED: i32 = 2;
/** A public wake is installed on the account's facade. */
export const FLAG_SLOT: i32 = 4;

if (offsetof<Bucket>() > <usize> ACCOUNT_BYTES) ERROR("Bucket is longer than ACCOUNT_BYTES");
if (offsetof<Window>() > <usize> ACCOUNT_BYTES) ERROR("Window is longer than ACCOUNT_BYTES");
if (offsetof<Run>() != RUN_BYTES) ERROR("Run is not RUN_BYTES long");
if (offsetof<Memory>() > <usize> ACCOUNT_BYTES) ERROR("Memory is longer than ACCOUNT_BYTES");
