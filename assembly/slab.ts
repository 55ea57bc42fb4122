// Memory. Records are carved off the end of linear memory and go back to free lists; nothing is ever moved or returned.
// Every table has a limit, and a table at its limit answers null (or 0): the shell turns that into an error.

import {
  ACCOUNT_BYTES,
  CELL_BYTES,
  COHORT_BYTES,
  GROW_PAGES,
  KIND_WINDOW,
  LINE_BYTES,
  MAX_ACCOUNTS,
  MAX_COHORTS,
  MAX_DEMAND_ENTRIES,
  MAX_LINES,
  MAX_METERS,
  MAX_TREE_BITS,
  MAX_WAITERS,
  RUN_BYTES,
  WAITER_BYTES,
  WAITER_CHUNK_BITS,
  WIRE_BYTES,
} from "./layout";
import { Cell, Cohort, Line, Part, Waiter, Wire } from "./line_records";
import { Account, Window } from "./records";
import { treeBytes } from "./sums";

let waiterLimit: i32 = MAX_WAITERS;
let accountLimit: i32 = MAX_ACCOUNTS;
let lineLimit: i32 = MAX_LINES;
let cohortLimit: i32 = MAX_COHORTS;

const CACHE_LINE: i32 = 64;

let top: usize = (__heap_base + 15) & ~15;

let freeAccounts: Account | null = null;
let accountsUsed: i32 = 0;
let freeLines: Line | null = null;
let linesUsed: i32 = 0;
let freeWires: Wire | null = null;
let freeWaiters: Waiter | null = null;
let waitersMade: i32 = 0;
let waitersUsed: i32 = 0;
let freeCohorts: Cohort | null = null;
let cohortsUsed: i32 = 0;

/** Chunk addresses of the waiter slab, by slot / chunk size. */
const waiterChunks: usize = memory.data((MAX_WAITERS >> WAITER_CHUNK_BITS) * sizeof<usize>());
/** Heads of the free lists of cell blocks, by number of cells. */
const freeBlocks: usize = memory.data((MAX_DEMAND_ENTRIES + 1) * sizeof<usize>());

/** Heads of the free lists of rings, by bits. */
const freeRings: usize = memory.data(32 * sizeof<usize>());

/** Heads of the free lists of trees, by meters and bits. */
const freeTrees: usize = memory.data((MAX_METERS + 1) * (MAX_TREE_BITS + 1) * sizeof<usize>());

/** Lowers the limit of the table of classes; for tests. 0 gives nobody a class. */
export function setCohortLimit(cohorts: i32): void {
  assert(cohorts >= 0 && cohorts <= MAX_COHORTS);
  cohortLimit = cohorts;
}

/** Lowers the limits of the other tables; for tests. */
export function setLimits(waiters: i32, accounts: i32, lines: i32): void {
  assert(waiters > 0 && waiters <= MAX_WAITERS);
  assert(accounts > 0 && accounts <= MAX_ACCOUNTS);
  assert(lines > 0 && lines <= MAX_LINES);
  waiterLimit = waiters;
  accountLimit = accounts;
  lineLimit = lines;
}

/** Zeroed bytes off the end of memory, or 0 when memory cannot grow. Records that fill cache lines begin with one. */
function carve(bytes: i32): usize {
  if ((bytes & (CACHE_LINE - 1)) == 0) top = (top + CACHE_LINE - 1) & ~(CACHE_LINE - 1);
  const size = ((<usize> bytes) + 15) & ~15;
  const end = top + size;
  const have = (<usize> memory.size()) << 16;
  if (end > have) {
    const pages = <i32> ((end - have + 0xffff) >> 16);
    if (memory.grow(max(pages, GROW_PAGES)) < 0 && memory.grow(pages) < 0) return 0;
  }
  const at = top;
  top = end;
  return at;
}

export function allocateAccount(): Account | null {
  if (accountsUsed >= accountLimit) return null;
  let account = freeAccounts;
  if (account !== null) {
    freeAccounts = account.nextFree;
    const generation = account.generation;
    memory.fill(changetype<usize>(account), 0, ACCOUNT_BYTES);
    account.generation = generation;
  } else {
    account = changetype<Account | null>(carve(ACCOUNT_BYTES));
    if (account === null) return null;
  }
  accountsUsed++;
  return account;
}

export function recycleAccount(account: Account): void {
  assert(account.wires === null && account.waiterPins == 0);
  if (account.kind == KIND_WINDOW) recycleRing(changetype<Window>(account).ring, changetype<Window>(account).ringBits);
  account.generation++;
  account.nextFree = freeAccounts;
  freeAccounts = account;
  accountsUsed--;
}

export function accountCount(): i32 {
  return accountsUsed;
}

export function allocateLine(): Line | null {
  if (linesUsed >= lineLimit) return null;
  let line = freeLines;
  if (line !== null) {
    freeLines = line.nextFree;
    memory.fill(changetype<usize>(line), 0, LINE_BYTES);
  } else {
    line = changetype<Line | null>(carve(LINE_BYTES));
    if (line === null) return null;
  }
  linesUsed++;
  return line;
}

export function recycleLine(line: Line): void {
  assert(line.count == 0);
  line.nextFree = freeLines;
  freeLines = line;
  linesUsed--;
}

export function allocateWire(): Wire | null {
  const wire = freeWires;
  if (wire === null) return changetype<Wire | null>(carve(WIRE_BYTES));
  freeWires = wire.next;
  return wire;
}

export function recycleWire(wire: Wire): void {
  wire.next = freeWires;
  freeWires = wire;
}

/** A block of cells with undefined content, or 0. An empty demand has no block. */
export function allocateCells(count: i32): usize {
  const head = freeBlocks + (<usize> count) * sizeof<usize>();
  const block = load<usize>(head);
  if (block == 0) return carve(count * CELL_BYTES);
  store<usize>(head, load<usize>(block));
  return block;
}

export function recycleCells(block: usize, count: i32): void {
  if (count == 0) return;
  const head = freeBlocks + (<usize> count) * sizeof<usize>();
  store<usize>(block, load<usize>(head));
  store<usize>(head, block);
}

/** A ring of 2^bits runs with undefined content, or 0. */
export function allocateRing(bits: i32): usize {
  const head = freeRings + (<usize> bits) * sizeof<usize>();
  const ring = load<usize>(head);
  if (ring == 0) return carve(RUN_BYTES << bits);
  store<usize>(head, load<usize>(ring));
  return ring;
}

export function recycleRing(ring: usize, bits: i32): void {
  if (ring == 0) return;
  const head = freeRings + (<usize> bits) * sizeof<usize>();
  store<usize>(ring, load<usize>(head));
  store<usize>(head, ring);
}

export function allocateCohort(): Cohort | null {
  if (cohortsUsed >= cohortLimit) return null;
  let cohort = freeCohorts;
  if (cohort !== null) {
    freeCohorts = cohort.nextInChain;
    memory.fill(changetype<usize>(cohort), 0, COHORT_BYTES);
  } else {
    cohort = changetype<Cohort | null>(carve(COHORT_BYTES));
    if (cohort === null) return null;
  }
  cohortsUsed++;
  return cohort;
}

export function recycleCohort(cohort: Cohort): void {
  assert(cohort.size == 0 && cohort.tree == 0);
  recycleCells(cohort.parts, cohort.partCount);
  cohort.nextInChain = freeCohorts;
  freeCohorts = cohort;
  cohortsUsed--;
}

export function cohortCount(): i32 {
  return cohortsUsed;
}

export function partAt(cohort: Cohort, index: i32): Part {
  return changetype<Part>(cohort.parts + (<usize> index) * CELL_BYTES);
}

/** A tree with undefined content, or 0. */
export function allocateTree(bits: i32, meters: i32): usize {
  const head = freeTrees + <usize> (meters * (MAX_TREE_BITS + 1) + bits) * sizeof<usize>();
  const tree = load<usize>(head);
  if (tree == 0) return carve(<i32> treeBytes(bits, meters));
  store<usize>(head, load<usize>(tree));
  return tree;
}

export function recycleTree(tree: usize, bits: i32, meters: i32): void {
  const head = freeTrees + <usize> (meters * (MAX_TREE_BITS + 1) + bits) * sizeof<usize>();
  store<usize>(tree, load<usize>(head));
  store<usize>(head, tree);
}

export function waiterAt(slot: i32): Waiter {
  assert(slot >= 0 && slot < waitersMade);
  const chunk = load<usize>(waiterChunks + (<usize> (slot >> WAITER_CHUNK_BITS)) * sizeof<usize>());
  return changetype<Waiter>(chunk + (<usize> (slot & ((1 << WAITER_CHUNK_BITS) - 1))) * WAITER_BYTES);
}

export function cellAt(waiter: Waiter, index: i32): Cell {
  return changetype<Cell>(waiter.cells + (<usize> index) * CELL_BYTES);
}

export function allocateWaiter(): Waiter | null {
  if (waitersUsed >= waiterLimit) return null;
  let waiter = freeWaiters;
  if (waiter !== null) {
    freeWaiters = waiter.next;
  } else {
    waiter = makeWaiter();
    if (waiter === null) return null;
  }
  waitersUsed++;
  return waiter;
}

function makeWaiter(): Waiter | null {
  const chunk = waiterChunks + (<usize> (waitersMade >> WAITER_CHUNK_BITS)) * sizeof<usize>();
  if (load<usize>(chunk) == 0) {
    const at = carve(WAITER_BYTES << WAITER_CHUNK_BITS);
    if (at == 0) return null;
    store<usize>(chunk, at);
  }
  const slot = waitersMade++;
  const waiter = waiterAt(slot);
  waiter.slot = slot;
  return waiter;
}

export function recycleWaiter(waiter: Waiter): void {
  recycleCells(waiter.cells, waiter.cellCount);
  waiter.generation++;
  waiter.next = freeWaiters;
  freeWaiters = waiter;
  waitersUsed--;
}
