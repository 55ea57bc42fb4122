/** Faults in the metered sums of a class and in the searches through them. */
import type { Mutant } from "./mutant.ts";

const TREES = ["tests/classes_trees_test.ts", "tests/long_lines_test.ts"];
const DEADLINES = ["tests/classes_deadline_test.ts", "tests/long_lines_test.ts"];
const REFUSALS = ["tests/classes_test.ts", "tests/long_lines_test.ts"];

/** The tree: what a member puts into it, and how it is packed and doubled. */
export const SUMS: readonly Mutant[] = [
  {
    id: "class-no-tokens-are-never-short",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "store<f64>(leaf(place, meter), -sum - 1);",
    replace: "store<f64>(leaf(place, meter), -sum);",
    tests: REFUSALS,
  },
  {
    id: "class-newcomer-lowers-no-least",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "store<f64>(at, min(load<f64>(at, LEAST), sum), LEAST);",
    replace: "",
    tests: TREES,
  },
  {
    id: "class-newcomer-raises-no-most",
    rules: ["ACC-06", "FLT-05", "BEY-08"],
    file: "assembly/sums.ts",
    find: "store<f64>(at, max(load<f64>(at, MOST), sum), MOST);",
    replace: "",
    tests: REFUSALS,
  },
  {
    id: "class-leaver-stays-in-the-tree",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/sums.ts",
    find: "store<f64>(leaf(waiter.place, meter), GONE);",
    replace: "",
    tests: DEADLINES,
  },
  {
    id: "class-mark-changes-the-sum",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/sums.ts",
    find: "store<f64>(at, sumOf(value));",
    replace: "store<f64>(at, sumOf(value) + 1);",
    tests: DEADLINES,
  },
  {
    id: "class-node-forgets-its-last-child",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/sums.ts",
    find: "child <= last",
    replace: "child < last",
    tests: DEADLINES,
  },
  {
    id: "class-node-counts-places-not-given-out",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/sums.ts",
    find: "const last = min(first + (1 << FAN_OUT_BITS) - 1, (used - 1) >> (FAN_OUT_BITS * (level - 1)));",
    replace: "const last = first + (1 << FAN_OUT_BITS) - 1;",
    tests: DEADLINES,
  },
  {
    id: "class-node-forgets-the-most",
    rules: ["ACC-06", "FLT-05", "BEY-08"],
    file: "assembly/sums.ts",
    find: "      most = max(most, sum);",
    replace: "",
    tests: REFUSALS,
  },
  {
    id: "class-tree-never-doubles",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "cohort.size > 1 << (bits - 1)",
    replace: "cohort.size > 1 << bits",
    tests: TREES,
  },
  {
    id: "class-packed-members-keep-their-places",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "waiter.place = place++;",
    replace: "place++;",
    tests: TREES,
  },
  {
    id: "class-packed-tree-keeps-its-nodes",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "level <= top && used > 0",
    replace: "level <= 0 && used > 0",
    tests: TREES,
  },
  {
    id: "class-outgrown-tree-is-taken-for-a-longer-one",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "recycleTree(old, oldBits, meters)",
    replace: "recycleTree(old, bits, meters)",
    tests: ["tests/long_lines_test.ts", "tests/classes_test.ts"],
  },
  {
    id: "class-tree-is-lost",
    rules: ["BEY-08"],
    file: "assembly/sums.ts",
    find: "if (cohort.tree != 0) recycleTree(cohort.tree, cohort.treeBits, cohort.meters);",
    replace: "",
    tests: ["tests/classes_test.ts"],
  },
];

/** The searches: who fits, who is refused, who is not marked, and the least. */
export const SEARCHES: readonly Mutant[] = [
  {
    id: "class-searched-from-its-first",
    rules: ["BEY-08"],
    file: "assembly/searches.ts",
    find: "  use(cohort);\n  let place = from.place;",
    replace: "  use(cohort);\n  let place = 0;",
    tests: TREES,
  },
  {
    id: "class-searched-in-subtrees-too-large",
    rules: ["BEY-08"],
    file: "assembly/searches.ts",
    find: "ctz(place) / FAN_OUT_BITS",
    replace: "ctz(place) / FAN_OUT_BITS + 1",
    tests: TREES,
  },
  {
    id: "class-exact-fit-is-missed",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/searches.ts",
    find: "if (least(level, index, meter) > fitsUpTo(meter)) return false;",
    replace: "if (least(level, index, meter) >= fitsUpTo(meter)) return false;",
    tests: DEADLINES,
  },
  {
    id: "class-refuses-a-token-too-late",
    rules: ["ACC-06", "FLT-05", "BEY-08"],
    file: "assembly/searches.ts",
    find: "if (most > load<f64>(refusing",
    replace: "if (most - 1 > load<f64>(refusing",
    tests: REFUSALS,
  },
  {
    id: "class-holds-those-that-fit",
    rules: ["BEY-08"],
    file: "assembly/searches.ts",
    find: "return unmarked > NONE && unmarked > fitsUpTo(wanted);",
    replace: "return unmarked > NONE;",
    tests: REFUSALS,
  },
  {
    id: "class-least-of-the-last-subtree",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/searches.ts",
    find: "sum = min(sum, least(level,",
    replace: "sum = (least(level,",
    tests: DEADLINES,
  },
];
