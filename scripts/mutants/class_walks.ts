/** Faults in what is remembered of a class, and in who is looked at next. */
import type { Mutant } from "./mutant.ts";

const LONG = "tests/long_lines_test.ts";
const ASKED = ["tests/classes_asked_test.ts", LONG];
const DEADLINES = ["tests/classes_deadline_test.ts", LONG];
const TABLE = ["tests/classes_test.ts", LONG];

/** What is remembered of a class: each of the things that make it look again. */
export const REMEMBERING: readonly Mutant[] = [
  {
    id: "class-hears-of-no-account",
    rules: ["BEY-08"],
    file: "assembly/changes.ts",
    find: "if (account.parts !== null) classesChange(account);",
    replace: "",
    tests: TABLE,
  },
  {
    id: "class-hears-of-no-arrival",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "  cohort.size++;\n  classChanges(cohort);",
    replace: "  cohort.size++;",
    tests: TABLE,
  },
  {
    id: "class-hears-of-no-departure",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/cohorts.ts",
    find: "  waiter.cohort = null;\n  classChanges(cohort);",
    replace: "  waiter.cohort = null;",
    tests: DEADLINES,
  },
  {
    id: "class-hears-of-no-old-head",
    rules: ["MON-17"],
    file: "assembly/stale.ts",
    find: "else if (!isGranted || account !== cellAt(old, i).limiter) classesGain(account);",
    replace: "",
    tests: ["tests/classes_trees_test.ts"],
  },
  {
    id: "class-hears-of-no-new-head",
    rules: ["MON-18"],
    file: "assembly/stale.ts",
    find: "    else classesShrink(account);",
    replace: "",
    tests: ["tests/classes_trees_test.ts"],
  },
  {
    id: "class-hears-the-clock-too-late",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/stale.ts",
    find: "cohort.deadline <= now",
    replace: "cohort.deadline < now",
    tests: DEADLINES,
  },
  {
    id: "class-hears-of-no-step-back",
    rules: ["WAK-09", "BEY-08"],
    file: "assembly/stale.ts",
    find: "isBack || cohort.deadline",
    replace: "cohort.deadline",
    tests: DEADLINES,
  },
  {
    id: "class-with-an-instant-is-not-counted",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/stale.ts",
    find: "if (deadline < Infinity) cohort.line.clocked++;",
    replace: "",
    tests: DEADLINES,
  },
  {
    id: "class-that-is-held-names-no-instant",
    rules: ["WAK-06", "BEY-08"],
    file: "assembly/looking.ts",
    find: "noteDeadline(line, classDeadline(line));",
    replace: "",
    tests: DEADLINES,
  },
  {
    id: "class-that-is-gone-is-looked-at",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "  forgetClass(cohort);",
    replace: "",
    tests: TABLE,
  },
  {
    id: "class-that-is-gone-hears-of-accounts",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "  unlinkParts(cohort);",
    replace: "",
    tests: TABLE,
  },
];

/** What happens while an account outside the kernel is asked, and who is looked at next. */
export const JUDGING: readonly Mutant[] = [
  {
    id: "class-not-judged-before-a-change",
    rules: ["BEY-08"],
    file: "assembly/changes.ts",
    find: "    judgePassed(line);",
    replace: "",
    tests: ASKED,
  },
  {
    id: "class-judged-with-what-the-asked-one-took",
    rules: ["BEY-08"],
    file: "assembly/judging.ts",
    find: `i++) putBack(line, asked, i);
  while (waiter !== null && waiter.arrival < asked.arrival) {
    if (waiter.cohort !== null) judge(line, waiter);
    line.judged = waiter;
    waiter = waiter.next;
  }
  for (let i = line.undone; i < line.taken;`,
    replace: `i++) {}
  while (waiter !== null && waiter.arrival < asked.arrival) {
    if (waiter.cohort !== null) judge(line, waiter);
    line.judged = waiter;
    waiter = waiter.next;
  }
  for (let i = line.taken; i < line.taken;`,
    tests: ASKED,
  },
  {
    id: "class-judged-and-what-was-taken-stays-back",
    rules: ["BEY-08", "MON-26"],
    file: "assembly/judging.ts",
    find: "i++) takeAgain(line, asked, i);",
    replace: "i++) {}",
    tests: ASKED,
  },
  {
    id: "class-not-judged-before-a-member-leaves",
    rules: ["CAN-03"],
    file: "assembly/judging.ts",
    find: "if (line.phase == WAITING) judgePassed(line);",
    replace: "",
    tests: ["tests/classes_asked_test.ts"],
  },
  {
    id: "class-leaver-stands-last",
    rules: ["CAN-03"],
    file: "assembly/cohorts.ts",
    find: "while (previous !== null && previous.arrival > waiter.arrival) previous = previous.previousPeer;",
    replace: "",
    tests: ["tests/classes_asked_test.ts"],
  },
  {
    id: "class-leaver-is-not-met",
    rules: ["BEY-08"],
    file: "assembly/cohorts.ts",
    find: "waiter.arrival < nextAlone.arrival)) line.nextAlone = waiter;",
    replace: "waiter.arrival < nextAlone.arrival)) return;",
    tests: [LONG],
  },
  {
    id: "class-before-those-who-stand-alone",
    rules: ["BEY-08"],
    file: "assembly/walk.ts",
    find: "return alone.arrival < due.arrival ? alone : due;",
    replace: "return due;",
    tests: TABLE,
  },
  {
    id: "class-behind-those-who-stand-alone",
    rules: ["BEY-08"],
    file: "assembly/walk.ts",
    find: "return alone.arrival < due.arrival ? alone : due;",
    replace: "return alone;",
    tests: TABLE,
  },
  {
    id: "class-after-class-is-held",
    rules: ["BEY-08"],
    file: "assembly/runs.ts",
    find: "let isSorted = false;",
    replace: "let isSorted = true;",
    tests: TABLE,
  },
  {
    id: "class-runs-merged-backwards",
    rules: ["BEY-08"],
    file: "assembly/runs.ts",
    find: "next.arrival > rest.arrival",
    replace: "next.arrival < rest.arrival",
    tests: TABLE,
  },
];
