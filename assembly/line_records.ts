// The records of lines: waiters, their classes, and what they ask. As in records.ts, they are linked by pointers, never move,
// and their sizes are checked below.

import { CELL_BYTES, COHORT_BYTES, LINE_BYTES, STAGED_BYTES, WAITER_BYTES, WIRE_BYTES } from "./layout";
import { Account, Gate } from "./records";

// Wire: 0 line, 4 count, 8 next. One per account and line with at least one waiter that names the account.
// @ts-ignore: decorator
@unmanaged
export class Wire {
  line: Line;
  count: i32;
  next: Wire | null;
  reserved: i32;
}

// Cell: 0 limiter, 4 key, 8 count, 12 marks, 16 sum, 24 heldSince. One entry of a parked demand.
// @ts-ignore: decorator
@unmanaged
export class Cell {
  /** Who is asked. */
  limiter: Account;
  /** Whose line, held count and reservation this is; differs from `limiter` only for a router. */
  key: Account;
  /** How many amounts: permits, slots or requests. */
  count: i32;
  /** Bit 0: short at the last attempt. From bit 8: place in the order of first holds, from 1; 0 when never held. */
  marks: i32;
  /** Sum of the amounts: tokens. */
  sum: f64;
  /** Tick of the first refusal, meaningful once held. */
  heldSince: f64;
}

// Waiter: 0 next, 4 previous, 8 line, 12 cells, 16 cellCount, 20 slot, 24 generation, 28 flags, 32 holds, 36 memoryOrder,
//         40 memoryHeldSince, 48 arrival, 56 cohort, 60 nextPeer, 64 previousPeer, 68 place, 72 nextShort
// @ts-ignore: decorator
@unmanaged
export class Waiter {
  next: Waiter | null;
  previous: Waiter | null;
  line: Line;
  cells: usize;
  cellCount: i32;
  slot: i32;
  generation: i32;
  flags: i32;
  /** How many accounts have held this waiter so far, memory included. */
  holds: i32;
  /** Memory's place in the order of first holds, from 1; 0 when memory never held it. */
  memoryOrder: i32;
  memoryHeldSince: f64;
  /** Place in the order of arrival over the kernel's life. */
  arrival: f64;
  /** Its class; null for a waiter that is looked at one by one. */
  cohort: Cohort | null;
  /** In its class, or among those looked at one by one, in order of arrival. */
  nextPeer: Waiter | null;
  previousPeer: Waiter | null;
  /** In the tree of its class. */
  place: i32;
  /** In the list of those to be marked at the end of this walk. */
  nextShort: Waiter | null;
  reserved: i32;
}

// Cohort: 0 nextStale, 4 previousStale, 8 state, 12 due, 16 first, 20 line, 24 parts, 28 partCount, 30 meters, 32 root,
//         36 shortParts, 40 fitsUpTo, 48 deadline, 56 blocker, 60 blockerCount, 62 flags, 64 previous, 68 next,
//         72 nextInChain, 76 hash, 80 last, 84 unmarked, 88 tree, 92 treeBits, 96 used, 100 size, 104 to 128 nothing
// A class of waiters: those of one line with the same accounts in the same order and the same counts. Only their metered sums
// differ, so if the oldest is held, so are all whose sums are not smaller. What an event reads fills one cache line.
// @ts-ignore: decorator
@unmanaged
export class Cohort {
  /** Among the classes of the line that are not held whole. */
  nextStale: Cohort | null;
  previousStale: Cohort | null;
  /** What is known of it: see stale.ts. */
  state: i32;
  /** While it is LOOKED_AT or SHRUNK: the oldest member that can leave, or null. */
  due: Waiter | null;
  /** The members, in order of arrival. */
  first: Waiter | null;
  line: Line;
  parts: usize;
  partCount: i16;
  /** How many parts are metered. */
  meters: i16;
  /** The node of the tree that is over all members. */
  root: usize;
  /** What it was found to be when it was last weighed, with `fitsUpTo` and `blocker`: see weighing.ts. */
  shortParts: i32;
  fitsUpTo: f64;
  /** While it is held whole: the earliest deadline of its members, but for the head. */
  deadline: f64;
  /** A gate that was short for every member, or null. */
  blocker: Gate | null;
  /** The permits that a member asks there. */
  blockerCount: i16;
  flags: i16;
  /** Among the classes of the line. */
  previous: Cohort | null;
  next: Cohort | null;
  /** In the chain of the table, or of the free records. */
  nextInChain: Cohort | null;
  hash: i32;
  last: Waiter | null;
  /** Memory has marked every member before this one; null when it has marked all. */
  unmarked: Waiter | null;
  /** The metered sums, by place; 0 where nothing is metered. */
  tree: usize;
  treeBits: i32;
  /** Places given out so far; the members stand on them in order of arrival. */
  used: i32;
  size: i32;
  reserved: f64;
  reserved2: f64;
  reserved3: f64;
}

// Part: 0 account, 4 count, 8 meter, 12 unmarked, 16 cohort, 20 previous, 24 next, 28 isShrunk. One account of a class.
// @ts-ignore: decorator
@unmanaged
export class Part {
  account: Account;
  count: i32;
  /** Which of the metered sums is this account's; -1 for none. */
  meter: i32;
  /** The account has marked every member before this one, where nothing is metered; null when it has marked all. */
  unmarked: Waiter | null;
  cohort: Cohort;
  /** Among the parts that name the account. */
  previous: Part | null;
  next: Part | null;
  /** While the class is SHRUNK: whether this account did. */
  isShrunk: i32;
}

// Line: 0 head, 4 tail, 8 count, 12 memory, 16 cursor, 20 phase, 24 entry, 28 asked, 32 verb, 36 shorts, 40 newlyShort,
//       44 undone, 48 taken, 52 after, 56 reason, 60 isInline, 64 wantsHeld, 68 woken, 72 now, 80 deadline,
//       88 laterDeadline, 96 nextWoken, 100 nextFree, 104 attemptsSeen, 108 askers, 112 reading, 120 lastShort,
//       124 isHeadSeen, 128 position, 136 attemptDeadline, 144 headDeadline, 152 firstAlone, 156 lastAlone, 160 nextAlone,
//       164 cohorts, 168 due, 172 dueAsOf, 176 judged, 180 nextAsking,
//       184 stale, 188 clocked, 192 lookedAt, 200 windowed, 204 isServed
// @ts-ignore: decorator
@unmanaged
export class Line {
  head: Waiter | null;
  tail: Waiter | null;
  count: i32;
  memory: Account | null;
  /** The waiter being looked at. */
  cursor: Waiter | null;
  phase: i32;
  /** How far the attempt is; after a failed take, the entry that failed. */
  entry: i32;
  /** The entry of the pending ask or of the last HELD, or MEMORY_ENTRY. */
  asked: i32;
  verb: i32;
  /** Entries short in the running attempt. */
  shorts: i32;
  /** Waiters of this walk that are short on an account that has not held them yet; the list ends at `lastShort`. */
  newlyShort: Waiter | null;
  /** Entries already given back by the running compensation. */
  undone: i32;
  /** Entries taken by the running attempt; memory counts as one after the last. */
  taken: i32;
  /** What follows the running compensation: an outcome code. */
  after: i32;
  reason: i32;
  isInline: i32;
  wantsHeld: i32;
  /** Among which woken lines it stands, 0 for none: see waking.ts. */
  woken: i32;
  now: f64;
  /** The earliest deadline over the waiters looked at in this walk. */
  deadline: f64;
  /** The earliest of them that lies after now: an account that names passed instants must not hide it. */
  laterDeadline: f64;
  nextWoken: Line | null;
  nextFree: Line | null;
  attemptsSeen: i32;
  /** Waiters with entries: those that meet memory. */
  askers: i32;
  /** The heap reading of the running step, NaN for none; meant for a memory account that is built in. */
  reading: f64;
  lastShort: Waiter | null;
  /** Whether this walk has looked at the head, which comes first. */
  isHeadSeen: i32;
  /** The arrival of the last waiter that this walk looked at and left in line; -1 before. */
  position: f64;
  /** The deadline of the running attempt. */
  attemptDeadline: f64;
  /** What the head's attempt found in this walk. */
  headDeadline: f64;
  /** Waiters without a class, in order of arrival: this walk looks at each of them. */
  firstAlone: Waiter | null;
  lastAlone: Waiter | null;
  /** The next of them that this walk looks at. */
  nextAlone: Waiter | null;
  cohorts: Cohort | null;
  /** The oldest waiter with a class that can leave, as of the count of changes in `dueAsOf`. */
  due: Waiter | null;
  dueAsOf: i32;
  /** Passed members of classes up to this one were looked at one by one, because an account was about to change. */
  judged: Waiter | null;
  /** In the list of lines that wait for the answer to an ask. */
  nextAsking: Line | null;
  /** The classes about which something is not known. */
  stale: Cohort | null;
  /** Classes that are HELD with a deadline. */
  clocked: i32;
  /** The instant of the last pass. */
  lookedAt: f64;
  /** Classes with a window. */
  windowed: i32;
  /** Whether somebody of it was granted since it was last woken: then others look first. */
  isServed: i32;
}

// Staged: 0 limiter, 4 key, 8 count, 16 sum. Written by the shell.
// @ts-ignore: decorator
@unmanaged
export class Staged {
  limiter: Account;
  key: Account;
  count: i32;
  reserved: i32;
  sum: f64;
}

export const WAITER_CANCELLED: i32 = 1;
export const WAITER_MEMORY_SHORT: i32 = 2;
export const WAITER_NEWLY_SHORT: i32 = 4;
/** Granted, refused or withdrawn; the record lives until `recycle`. */
export const WAITER_GONE: i32 = 8;

/** One of the accounts of the class is a window. */
export const COHORT_HAS_WINDOWS: i16 = 1;
/** One of its parts is noted as shrunk. */
export const COHORT_HAS_SHRUNK: i16 = 2;

export const CELL_SHORT: i32 = 1;
export const CELL_ORDER_SHIFT: i32 = 8;

if (offsetof<Cell>() != CELL_BYTES) ERROR("Cell is not CELL_BYTES long");
if (offsetof<Waiter>() != WAITER_BYTES) ERROR("Waiter is not WAITER_BYTES long");
if (offsetof<Line>() != LINE_BYTES) ERROR("Line is not LINE_BYTES long");
if (offsetof<Wire>() != WIRE_BYTES) ERROR("Wire is not WIRE_BYTES long");
if (offsetof<Staged>() != STAGED_BYTES) ERROR("Staged is not STAGED_BYTES long");
if (offsetof<Cohort>() != COHORT_BYTES) ERROR("Cohort is not COHORT_BYTES long");
if (offsetof<Part>() != CELL_BYTES) ERROR("Part is not CELL_BYTES long");
