// The metered sums of a class: a wide tree over the places of its members, which are given out in order of arrival and never
// moved between, so that the oldest one whose sums are small enough, or too large, is found without asking the others.
//
// A tree is one block: the members by place (0 for one that left), their sums, then level by level the nodes, each over eight
// children. A node has three numbers a meter: the least sum, the most, and the most that its account has not marked as held.

import { FAN_OUT_BITS, FIRST_TREE_BITS, MAX_TREE_BITS } from "./layout";
import { Cohort, Part, Waiter } from "./line_records";
import { allocateTree, cellAt, partAt, recycleTree } from "./slab";

/** Numbers of a node, a meter. */
export const LEAST: usize = 0;
export const MOST: usize = 8;
export const MOST_UNMARKED: usize = 16;
export const NODE_BYTES: usize = 24;
/** Less than any sum: what a node without a member has as its most. */
export const NONE: f64 = -1;
/** More than any sum: the sum of a member that left. */
export const GONE: f64 = Infinity;

// --- The tree in use: `use` lays it out, every function below works on it. ---

let members: usize = 0;
let leaves: usize = 0;
export let meters: i32 = 0;
export let used: i32 = 0;
/** The level with one node. */
export let top: i32 = 0;
let end: usize = 0;
/** Addresses of the levels, from 1. */
const levels: usize = memory.data((MAX_TREE_BITS / FAN_OUT_BITS + 2) * sizeof<usize>());

function layOut(tree: usize, bits: i32, meterCount: i32): void {
  let nodes: i32 = 1 << bits;
  meters = meterCount;
  members = tree;
  leaves = tree + <usize> nodes * sizeof<usize>();
  end = leaves + <usize> (nodes * meters) * sizeof<f64>();
  top = 0;
  do {
    nodes = (nodes + (1 << FAN_OUT_BITS) - 1) >> FAN_OUT_BITS;
    top++;
    store<usize>(levels + (<usize> top) * sizeof<usize>(), end);
    end += <usize> (nodes * meters) * NODE_BYTES;
  } while (nodes > 1);
}

export function use(cohort: Cohort): void {
  layOut(cohort.tree, cohort.treeBits, cohort.meters);
  used = cohort.used;
}

/** Bytes of a tree. */
export function treeBytes(bits: i32, meterCount: i32): usize {
  layOut(0, bits, meterCount);
  return end;
}

export function memberAt(place: i32): Waiter | null {
  return load<Waiter | null>(members + (<usize> place) * sizeof<usize>());
}

function setMember(place: i32, waiter: Waiter | null): void {
  store<Waiter | null>(members + (<usize> place) * sizeof<usize>(), waiter);
}

export function leaf(place: i32, meter: i32): usize {
  return leaves + <usize> (place * meters + meter) * sizeof<f64>();
}

export function node(level: i32, index: i32, meter: i32): usize {
  const first = load<usize>(levels + (<usize> level) * sizeof<usize>());
  return first + <usize> (index * meters + meter) * NODE_BYTES;
}

// A leaf below 0 is a sum that is not marked yet: -1 stands for 0, -2 for 1, and so on; sums are whole and below 2^53.

export function sumOf(leafValue: f64): f64 {
  return leafValue < 0 ? -leafValue - 1 : leafValue;
}

// --- Coming and going. ---

/** Gives a new member the next place; false when there is no room for more. */
export function joinTree(cohort: Cohort, waiter: Waiter): bool {
  if (cohort.tree == 0 || cohort.used == 1 << cohort.treeBits) {
    if (!makeRoom(cohort)) return false;
  }
  waiter.place = cohort.used++;
  use(cohort);
  setMember(waiter.place, waiter);
  for (let i = 0; i < cohort.partCount; i++) {
    const meter = partAt(cohort, i).meter;
    if (meter >= 0) plant(waiter.place, meter, cellAt(waiter, i).sum);
  }
  return true;
}

function plant(place: i32, meter: i32, sum: f64): void {
  store<f64>(leaf(place, meter), -sum - 1);
  for (let level = 1; level <= top; level++) {
    const at = node(level, place >> (FAN_OUT_BITS * level), meter);
    if ((place & ((1 << (FAN_OUT_BITS * level)) - 1)) == 0) {
      store<f64>(at, sum, LEAST);
      store<f64>(at, sum, MOST);
      store<f64>(at, sum, MOST_UNMARKED);
    } else {
      store<f64>(at, min(load<f64>(at, LEAST), sum), LEAST);
      store<f64>(at, max(load<f64>(at, MOST), sum), MOST);
      store<f64>(at, max(load<f64>(at, MOST_UNMARKED), sum), MOST_UNMARKED);
    }
  }
}

export function leaveTree(cohort: Cohort, waiter: Waiter): void {
  use(cohort);
  setMember(waiter.place, null);
  for (let meter = 0; meter < meters; meter++) {
    store<f64>(leaf(waiter.place, meter), GONE);
    refresh(waiter.place, meter);
  }
}

/** The account of a part has marked the member as held. */
export function markInTree(cohort: Cohort, waiter: Waiter, part: Part): void {
  use(cohort);
  const at = leaf(waiter.place, part.meter);
  const value = load<f64>(at);
  if (value >= 0) return;
  store<f64>(at, sumOf(value));
  refresh(waiter.place, part.meter);
}

/**
 * Marks a member that stands behind `previous`, the last one marked; the nodes above `previous` that are not above this one are
 * brought up to date. `endMarking` does it for the rest, so that every node is worked out once, however many are marked.
 */
export function markNext(cohort: Cohort, waiter: Waiter, previous: Waiter | null, meter: i32): void {
  use(cohort);
  const at = leaf(waiter.place, meter);
  store<f64>(at, sumOf(load<f64>(at)));
  if (previous === null) return;
  for (let level = 1; level <= top; level++) {
    const index = previous.place >> (FAN_OUT_BITS * level);
    if (index == waiter.place >> (FAN_OUT_BITS * level)) return;
    summarise(level, index, meter);
  }
}

export function endMarking(cohort: Cohort, last: Waiter, meter: i32): void {
  use(cohort);
  for (let level = 1; level <= top; level++) summarise(level, last.place >> (FAN_OUT_BITS * level), meter);
}

/** Brings the nodes above a leaf up to date, as far as they change. */
function refresh(place: i32, meter: i32): void {
  for (let level = 1; level <= top; level++) {
    if (!summarise(level, place >> (FAN_OUT_BITS * level), meter)) return;
  }
}

/** Works a node out from its children; whether that changed it. */
function summarise(level: i32, index: i32, meter: i32): bool {
  let least = GONE;
  let most = NONE;
  let mostUnmarked = NONE;
  const first = index << FAN_OUT_BITS;
  const last = min(first + (1 << FAN_OUT_BITS) - 1, (used - 1) >> (FAN_OUT_BITS * (level - 1)));
  for (let child = first; child <= last; child++) {
    if (level == 1) {
      const value = load<f64>(leaf(child, meter));
      if (value == GONE) continue;
      const sum = sumOf(value);
      least = min(least, sum);
      most = max(most, sum);
      if (value < 0) mostUnmarked = max(mostUnmarked, sum);
    } else {
      const at = node(level - 1, child, meter);
      least = min(least, load<f64>(at, LEAST));
      most = max(most, load<f64>(at, MOST));
      mostUnmarked = max(mostUnmarked, load<f64>(at, MOST_UNMARKED));
    }
  }
  const at = node(level, index, meter);
  if (load<f64>(at, LEAST) == least && load<f64>(at, MOST) == most && load<f64>(at, MOST_UNMARKED) == mostUnmarked) {
    return false;
  }
  store<f64>(at, least, LEAST);
  store<f64>(at, most, MOST);
  store<f64>(at, mostUnmarked, MOST_UNMARKED);
  return true;
}

// --- Room. ---

/** A first tree; or the places of those who left, when they are half of all; or a tree twice as long. */
function makeRoom(cohort: Cohort): bool {
  let bits = cohort.tree == 0 ? FIRST_TREE_BITS : cohort.treeBits;
  const isCrowded = cohort.tree != 0 && cohort.size > 1 << (bits - 1);
  if (isCrowded) bits++;
  if (bits > MAX_TREE_BITS) return false;
  let tree = cohort.tree;
  if (tree == 0 || isCrowded) {
    tree = allocateTree(bits, cohort.meters);
    if (tree == 0) return false;
  }
  pack(cohort, tree, bits);
  return true;
}

/** Moves the members to the first places of a tree, which may be the one they are in. */
function pack(cohort: Cohort, tree: usize, bits: i32): void {
  const old = cohort.tree;
  const oldBits = cohort.treeBits;
  const oldLeaves = old + (<usize> 1 << oldBits) * sizeof<usize>();
  layOut(tree, bits, cohort.meters);
  const bytes = <usize> meters * sizeof<f64>();
  let place = 0;
  let waiter = cohort.first;
  while (waiter !== null) {
    memory.copy(leaf(place, 0), oldLeaves + (<usize> waiter.place) * bytes, bytes);
    setMember(place, waiter);
    waiter.place = place++;
    waiter = waiter.nextPeer;
  }
  used = place;
  for (let level = 1; level <= top && used > 0; level++) {
    for (let index = (used - 1) >> (FAN_OUT_BITS * level); index >= 0; index--) {
      for (let meter = 0; meter < meters; meter++) summarise(level, index, meter);
    }
  }
  if (old != 0 && old != tree) recycleTree(old, oldBits, meters);
  cohort.tree = tree;
  cohort.root = node(top, 0, 0);
  cohort.treeBits = bits;
  cohort.used = used;
}

export function freeTree(cohort: Cohort): void {
  if (cohort.tree != 0) recycleTree(cohort.tree, cohort.treeBits, cohort.meters);
  cohort.tree = 0;
}
