/** Faults in the classes of waiters; here: who belongs to which class, and the table. */
import { LOOKING } from "./class_looking.ts";
import { SEARCHES, SUMS } from "./class_trees.ts";
import { ROOMS } from "./class_rooms.ts";
import { JUDGING, REMEMBERING } from "./class_walks.ts";
import type { Mutant } from "./mutant.ts";

const LONG = "tests/long_lines_test.ts";
const TABLE = ["tests/classes_test.ts", LONG];

/** Who belongs to which class, and the table. */
const COHORTS: readonly Mutant[] = [
  {
    id: "class-of-any-count",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: `    hash = (rotl(hash, 5) ^ <u32> cell.count) * 0x85ebca77;
  }
  return <i32> (hash ^ (hash >> 15));
}

function find(line: Line, waiter: Waiter, hash: i32): Cohort | null {
  let cohort = load<Cohort | null>(chainOf(hash));
  while (cohort !== null && !(cohort.hash == hash && cohort.line === line && isAlike(cohort, waiter))) {`,
    replace: `  }
  return <i32> (hash ^ (hash >> 15));
}

function find(line: Line, waiter: Waiter, hash: i32): Cohort | null {
  let cohort = load<Cohort | null>(chainOf(hash));
  while (cohort !== null && !(cohort.hash == hash && cohort.line === line)) {`,
    tests: TABLE,
  },
  {
    id: "class-of-any-line",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: `  const hash = hashOf(line, waiter);
  let cohort = find(line, waiter, hash);`,
    replace: `  const hash = 1;
  let cohort = load<Cohort | null>(chainOf(hash));
  while (cohort !== null && !isAlike(cohort, waiter)) cohort = cohort.nextInChain;`,
    tests: TABLE,
  },
  {
    id: "class-of-any-order",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: `  const hash = hashOf(line, waiter);
  let cohort = find(line, waiter, hash);`,
    replace: `  const hash = 1;
  let cohort = load<Cohort | null>(chainOf(hash));
  while (cohort !== null && !(cohort.line === line && cohort.partCount == waiter.cellCount)) cohort = cohort.nextInChain;`,
    tests: TABLE,
  },
  {
    id: "class-that-is-gone-is-found-again",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "store<Cohort | null>(chain, cohort.nextInChain);",
    replace: "",
    tests: TABLE,
  },
  {
    id: "class-marks-only-its-first-members",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "if (part.meter < 0 && part.unmarked === null) part.unmarked = waiter;",
    replace: "",
    tests: TABLE,
  },
  {
    id: "class-marks-from-one-that-is-gone",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "if (part.unmarked === waiter) part.unmarked = next;",
    replace: "",
    tests: [LONG],
  },
  {
    id: "class-of-nine-meters",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "if (meters > MAX_METERS) return false;",
    replace: "",
    tests: TABLE,
  },
  {
    id: "class-table-holds-one-more",
    rules: ["BEY-08"],
    file: "assembly/slab.ts",
    find: "if (cohortsUsed >= cohortLimit) return null;",
    replace: "if (cohortsUsed > cohortLimit) return null;",
    tests: TABLE,
  },
  {
    id: "class-table-never-empties",
    rules: ["BEY-08"],
    file: "assembly/slab.ts",
    find: "  cohortsUsed--;",
    replace: "",
    tests: TABLE,
  },
];

/** All of them. */
export const CLASSES: readonly Mutant[] = [
  ...SUMS,
  ...SEARCHES,
  ...LOOKING,
  ...REMEMBERING,
  ...ROOMS,
  ...JUDGING,
  ...COHORTS,
];
