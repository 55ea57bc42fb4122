// Questions to the metered sums of a class, each about the members from one on, in order of arrival.

import { FAN_OUT_BITS, MAX_METERS } from "./layout";
import { Cohort, Waiter } from "./line_records";
import { GONE, leaf, LEAST, memberAt, meters, MOST, MOST_UNMARKED, node, NODE_BYTES, NONE, sumOf, top, use, used } from "./sums";

/** By meter: sums up to this one fit. */
const fitting: usize = memory.data(MAX_METERS * sizeof<f64>(), 8);
/** By meter: sums above this one are refused. */
const refusing: usize = memory.data(MAX_METERS * sizeof<f64>(), 8);

export function fitsUpTo(meter: i32): f64 {
  return load<f64>(fitting + (<usize> meter) * sizeof<f64>());
}

export function setFitsUpTo(meter: i32, sum: f64): void {
  store<f64>(fitting + (<usize> meter) * sizeof<f64>(), sum);
}

/** What the next questions are about: for one meter, the largest sum that fits and the largest that is not refused. */
export function setBounds(meter: i32, fitsUpTo: f64, refusedAbove: f64): void {
  setFitsUpTo(meter, fitsUpTo);
  store<f64>(refusing + (<usize> meter) * sizeof<f64>(), refusedAbove);
}

// Of the sums of all members.

export function leastOfAll(cohort: Cohort, meter: i32): f64 {
  return load<f64>(cohort.root + (<usize> meter) * NODE_BYTES, LEAST);
}

export function mostOfAll(cohort: Cohort, meter: i32): f64 {
  return load<f64>(cohort.root + (<usize> meter) * NODE_BYTES, MOST);
}

export function mostUnmarked(cohort: Cohort, meter: i32): f64 {
  return load<f64>(cohort.root + (<usize> meter) * NODE_BYTES, MOST_UNMARKED);
}

// The searches: every sum fits; some sum is refused; the sum of one meter does not fit and is not marked.
const THAT_FITS: i32 = -1;
const THAT_IS_REFUSED: i32 = -2;

export function firstThatFits(cohort: Cohort, from: Waiter): Waiter | null {
  return firstThat(cohort, from, THAT_FITS);
}

export function firstThatIsRefused(cohort: Cohort, from: Waiter): Waiter | null {
  return firstThat(cohort, from, THAT_IS_REFUSED);
}

export function firstUnmarked(cohort: Cohort, from: Waiter, meter: i32): Waiter | null {
  return firstThat(cohort, from, meter);
}

/** Steps from subtree to subtree, each the largest that starts at its place, and goes down where there may be one. */
function firstThat(cohort: Cohort, from: Waiter, wanted: i32): Waiter | null {
  use(cohort);
  let place = from.place;
  while (place < used) {
    let level = levelOf(place);
    while (mayHold(level, place, wanted)) {
      if (level == 0) return memberAt(place);
      level--;
    }
    place += 1 << (FAN_OUT_BITS * level);
  }
  return null;
}

/** The level of the largest subtree that starts at a place. */
export function levelOf(place: i32): i32 {
  return place == 0 ? top : min(top, <i32> ctz(place) / FAN_OUT_BITS);
}

/** Whether a subtree may hold what is wanted; at a leaf, whether it is. */
function mayHold(level: i32, place: i32, wanted: i32): bool {
  if (level == 0 && memberAt(place) === null) return false;
  const index = place >> (FAN_OUT_BITS * level);
  if (wanted >= 0) {
    const unmarked = level == 0 ? unmarkedLeaf(place, wanted) : load<f64>(node(level, index, wanted), MOST_UNMARKED);
    return unmarked > NONE && unmarked > fitsUpTo(wanted);
  }
  for (let meter = 0; meter < meters; meter++) {
    if (wanted == THAT_FITS) {
      if (least(level, index, meter) > fitsUpTo(meter)) return false;
    } else {
      const most = level == 0 ? sumOf(load<f64>(leaf(place, meter))) : load<f64>(node(level, index, meter), MOST);
      if (most > load<f64>(refusing + (<usize> meter) * sizeof<f64>())) return true;
    }
  }
  return wanted == THAT_FITS;
}

function unmarkedLeaf(place: i32, meter: i32): f64 {
  const value = load<f64>(leaf(place, meter));
  return value < 0 ? sumOf(value) : NONE;
}

export function least(level: i32, index: i32, meter: i32): f64 {
  return level == 0 ? sumOf(load<f64>(leaf(index, meter))) : load<f64>(node(level, index, meter), LEAST);
}

/** The least sum of a class with one meter. */
export function leastFrom(cohort: Cohort, from: Waiter): f64 {
  use(cohort);
  let sum: f64 = GONE;
  let place = from.place;
  while (place < used) {
    const level = levelOf(place);
    sum = min(sum, least(level, place >> (FAN_OUT_BITS * level), 0));
    place += 1 << (FAN_OUT_BITS * level);
  }
  return sum;
}
