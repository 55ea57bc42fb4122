/**
 * Every number that the kernel and the shell share, once. This file is read by the AssemblyScript compiler, by Deno and by
 * Bun, so it holds plain numeric constants and nothing else.
 */

// --- Limits. `limits()` can only lower the first three; tests make them tiny. ---

/** Most waiters parked in one kernel at a time, over all lines. */
export const MAX_WAITERS = 4_194_304;
/** Most account records in one kernel at a time. */
export const MAX_ACCOUNTS = 4_194_304;
/** Most lines (one per Admission) in one kernel at a time. */
export const MAX_LINES = 1_048_576;
/** Most entries in one demand; the staging area has room for this many cells. */
export const MAX_DEMAND_ENTRIES = 256;
/** Most slots of one elastic window. */
export const MAX_WINDOW_REQUESTS = 4_194_304;
/** Most runs of stamps (slots taken at one instant) that one window keeps apart; `limitRuns` can lower it, for tests. */
export const MAX_RUNS = 4_194_304;
/** Runs of the first ring of a window, as a power of two; a full ring is replaced by one twice as long. */
export const FIRST_RING_BITS = 2;
/**
 * Most classes of waiters in one kernel at a time; `limitCohorts` can lower it, for tests. A waiter that finds the table full
 * is looked at one by one.
 */
export const MAX_COHORTS = 65_536;
/** Chains of the table that finds the class of a demand, as a power of two. */
export const COHORT_CHAIN_BITS = 14;
/** Most metered amounts of a class: a demand with more is looked at one by one. */
export const MAX_METERS = 8;
/** Places of the first tree of a class, as a power of two; a full tree is packed, or replaced by one twice as long. */
export const FIRST_TREE_BITS = 3;
/** Places of the longest tree, as a power of two. */
export const MAX_TREE_BITS = 23;
/** Children of a tree's node, as a power of two. */
export const FAN_OUT_BITS = 3;
/** Waiters per chunk of the waiter slab, as a power of two. */
export const WAITER_CHUNK_BITS = 8;
/** WebAssembly pages (64 KiB) asked for when memory runs out. */
export const GROW_PAGES = 16;

// --- Record sizes in bytes, checked against the records at compile time. ---

export const ACCOUNT_BYTES = 256;
export const LINE_BYTES = 208;
export const WAITER_BYTES = 80;
export const COHORT_BYTES = 128;
/** Of a cell of a parked demand, and of a part of a class: blocks of both come from the same lists. */
export const CELL_BYTES = 32;
export const WIRE_BYTES = 16;
export const RUN_BYTES = 16;
export const STAGED_BYTES = 24;

// --- Offsets of a staged cell, which the shell writes and the kernel reads. ---

export const STAGED_LIMITER = 0;
export const STAGED_KEY = 4;
export const STAGED_COUNT = 8;
export const STAGED_SUM = 16;

// --- Kinds of account. ---

/** Asked through the shell; the record only counts who is held on it. */
export const KIND_CUSTOM = 0;
export const KIND_GATE = 1;
export const KIND_BUCKET = 2;
export const KIND_WINDOW = 3;
/** The memory account: no demand names it, a line does. */
export const KIND_MEMORY = 4;

// --- Verdicts of an account, and answers to an ask. ---

export const NO = 0;
export const YES = 1;
/** The account threw; only the shell says this. */
export const THREW = 2;
/** More permits than the gate's capacity. */
export const NEVER_PERMITS = 3;
/** More tokens than the bucket's cap. */
export const NEVER_TOKENS = 4;
/** More requests than the bucket's cap. */
export const NEVER_REQUESTS = 5;
/** The circuit of a window is open and its cooldown runs. */
export const COOLING_DOWN = 6;
/** The one probe of a window is in flight, or kept for the head of the line. */
export const PROBE_ONLY = 7;
/** `attempt` did nothing, because somebody waits or a step is running. */
export const BUSY = -1;

// --- Outcomes of a step: the low bits of the word; the waiter's slot stands above them. ---

export const OUTCOME_BITS = 3;
export const DONE = 0;
export const GRANTED = 1;
export const HELD = 2;
export const REFUSED = 3;
export const CANCELLED = 4;
export const ASK = 5;
export const DEFECT = 6;

// --- Verbs of an ask. ---

export const ASK_FITS = 0;
export const ASK_EARLIEST = 1;
export const ASK_TAKE = 2;
export const ASK_GIVE = 3;

/** Entry index that means the memory account, which no demand lists. */
export const MEMORY_ENTRY = -1;
/** Entry index that means nothing is left. */
export const NO_ENTRY = -2;

// --- What a change of an account asks of the shell: bits. ---

/** At least one line has to look again: ask `woken` which. */
export const WAKE_LINES = 1;
/** An account that gained room has a public wake installed. */
export const WAKE_SLOT = 2;
/** A gate had fewer in use than were to be given back: somebody gave permits outside their grant. That give did nothing. */
export const GIVE_DECLINED = 4;

// --- By whom an account is named: bits. ---

/** A parked waiter names it, or it is the memory account of a line. */
export const NAMED_BY_WAITER = 1;
/** An unsettled grant names it. */
export const NAMED_BY_GRANT = 2;

// --- Time. ---

/** Ticks of 0.001 ms in a minute. */
export const TICKS_PER_MINUTE = 60_000_000;
/** A slow-down older than this many ticks (five minutes) makes every success relax the throttle. */
export const RECOVERY_TICKS = 300_000_000;

// --- Throttle of a token bucket, in tenths. ---

export const THROTTLE_STEP_UP = 5;
export const THROTTLE_STEP_DOWN = 2;
export const THROTTLE_RECOVERY_DOWN = 5;
export const THROTTLE_MAX = 90;
export const SUCCESSES_PER_STEP = 3;

// --- Elastic window. ---

/** A throttle of 1 in the whole units that windows count it in, so that every throttle settles exactly. */
export const THROTTLE_UNITS = 1000;

// --- Circuit of an elastic window. ---

export const HEALTHY = 0;
export const BLOCKED = 1;
export const PROBING = 2;

// --- Memory gate: ratios of the heap in use to its limit, and times in milliseconds. ---

/** From this ratio on, releases are spaced further and further apart. */
export const MEMORY_THROTTLE_START = 0.8;
/** The latch sets at this ratio or above it. */
export const MEMORY_CRITICAL = 0.95;
/** The latch clears strictly below this ratio. */
export const MEMORY_RECOVERY = 0.9;
export const MEMORY_MIN_DELAY_MS = 50;
export const MEMORY_MAX_DELAY_MS = 30_000;
/** Longest wait between two releases, with the penalty in it. */
export const MEMORY_MAX_WAIT_MS = 3_600_000;
/** MEMORY_MAX_WAIT_MS / MEMORY_MIN_DELAY_MS. */
export const MEMORY_MAX_PENALTY = 72_000;
/** Longest time in ticks until the next look while the latch is set or releases are spaced. */
export const MEMORY_CHECK_TICKS = 2_000_000;
export const TICKS_PER_MS = 1000;
