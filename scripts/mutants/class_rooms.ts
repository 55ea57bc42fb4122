/** Faults in what a class need not look at again: where room came and went, and what a gate that is short answers for. */
import type { Mutant } from "./mutant.ts";

const LONG = ["tests/long_lines_test.ts", "tests/history_test.ts"];

/** What spares a class a look. */
export const ROOMS: readonly Mutant[] = [
  {
    id: "class-hears-of-no-gain",
    rules: ["BEY-08"],
    file: "assembly/changes.ts",
    find: "  if (account.parts !== null) classesGain(account);",
    replace: "",
    tests: LONG,
  },
  {
    id: "class-hears-of-no-shrinking",
    rules: ["BEY-08"],
    file: "assembly/changes.ts",
    find: "  if (account.parts !== null) classesShrink(account);",
    replace: "",
    tests: LONG,
  },
  {
    id: "class-visited-once-for-ever",
    rules: ["BEY-08"],
    file: "assembly/stale.ts",
    find: "  looks++;",
    replace: "",
    tests: LONG,
  },
  {
    id: "class-blocked-by-a-gate-with-room",
    rules: ["BEY-08"],
    file: "assembly/weighing.ts",
    find: "  return gateFits(gate, cohort.blockerCount, ahead === null ? 0 : ahead.count) == NO;",
    replace: "  return true;",
    tests: LONG,
  },
  {
    id: "class-blocked-and-not-told",
    rules: ["BEY-08"],
    file: "assembly/looking.ts",
    find: "!(cohort.flags & COHORT_HAS_SHRUNK) && ",
    replace: "",
    tests: LONG,
  },
  {
    id: "class-shrunk-while-time-passes",
    rules: ["BEY-08"],
    file: "assembly/stale.ts",
    find: "cohort.state = isIdle(cohort.line) ? CHANGED : SHRUNK;",
    replace: "cohort.state = SHRUNK;",
    tests: ["tests/classes_rooms_test.ts"],
  },
  {
    id: "class-told-before-it-is",
    rules: ["BEY-08"],
    file: "assembly/stale.ts",
    find: "const isTold = part.meter < 0 && part.unmarked === null;",
    replace: "const isTold = true;",
    tests: LONG,
  },
  {
    id: "class-held-whole-beside-an-open-circuit",
    rules: ["BEY-08"],
    file: "assembly/looking.ts",
    find: " || cohort.flags & COHORT_HAS_WINDOWS) return;",
    replace: ") return;",
    tests: ["tests/classes_windows_test.ts"],
  },
  {
    id: "class-held-whole-untold",
    rules: ["BEY-08"],
    file: "assembly/looking.ts",
    find: "  if (!isNewlyShort(cohort)) isHeldWhole(cohort, Infinity);",
    replace: "  isHeldWhole(cohort, Infinity);",
    tests: LONG,
  },
  {
    id: "class-seen-in-part-is-held-whole",
    rules: ["BEY-08"],
    file: "assembly/looking.ts",
    find: "const isWhole = line.judged === null && line.position <= line.head!.arrival;",
    replace: "const isWhole = true;",
    tests: LONG,
  },
  {
    id: "bucket-instant-rounded-up-twice",
    rules: ["TB-19"],
    file: "assembly/accounts/level.ts",
    find: "level.fraction + level.cap - 1)",
    replace: "level.fraction + level.cap)",
    tests: ["tests/token_bucket_instant_test.ts"],
  },
  {
    id: "class-reserves-only-what-is-short",
    rules: ["BEY-08", "MON-19"],
    file: "assembly/weighing.ts",
    find: "cellAt(head, i).key.ahead = cellAt(head, i);",
    replace: "cellAt(head, i).key.ahead = cellAt(head, i).marks & 1 ? cellAt(head, i) : null;",
    tests: LONG,
  },
];
