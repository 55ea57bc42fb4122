/** Faults in who is asked, what is set aside for the head, and when the line looks again: rules 1 to 3. */
import type { Mutant } from "./mutant.ts";

/** Rule 1: the head's whole amount is set aside on every key it names, and only the head's. */
export const RESERVATION: readonly Mutant[] = [
  {
    id: "lines-take-no-turns",
    rules: ["BEY-06"],
    file: "assembly/accounts/account.ts",
    find: "    takeTurns(account);\n",
    replace: "",
    tests: ["tests/shared_accounts_test.ts"],
  },
  {
    id: "inline-attempt-of-one-past-the-line",
    rules: ["MON-08", "BEY-23"],
    file: "assembly/border_attempts.ts",
    find:
      "  if (line.count != 0 || !pass.isIdle(line)) return BUSY;\n  noteAttempt();\n  const memory = changetype<Memory | null>(line.memory);\n  if (memory",
    replace: "  noteAttempt();\n  const memory = changetype<Memory | null>(line.memory);\n  if (memory",
    tests: ["tests/fast_path_test.ts"],
  },
  {
    id: "inline-attempt-of-several-past-the-line",
    rules: ["MON-08", "BEY-23"],
    file: "assembly/border_attempts.ts",
    find:
      "  if (line.count != 0 || !pass.isIdle(line)) return BUSY;\n  noteAttempt();\n  const memory = changetype<Memory | null>(line.memory);\n  const meetsMemory",
    replace:
      "  noteAttempt();\n  const memory = changetype<Memory | null>(line.memory);\n  const meetsMemory",
    tests: ["tests/fast_path_test.ts"],
  },
  {
    id: "reserve-only-what-is-short",
    rules: ["MON-20", "MON-19", "MON-18"],
    file: "assembly/queue.ts",
    find: "if (cell.key === key) return cell;",
    replace: "if (cell.key === key && (cell.marks & 1) != 0) return cell;",
    tests: ["tests/standing_alone_test.ts"],
  },
  {
    id: "reserve-no-tokens",
    rules: ["MON-21", "MON-19", "MON-18"],
    file: "assembly/attempt.ts",
    find: "cell.sum, ahead.count, ahead.sum, line.now",
    replace: "cell.sum, ahead.count, 0, line.now",
    tests: ["tests/admission_order_test.ts", "tests/standing_alone_test.ts"],
  },
  {
    id: "reserve-no-permits",
    rules: ["MON-20", "MON-21", "MON-18"],
    file: "assembly/attempt.ts",
    find: "cell.sum, ahead.count, ahead.sum, line.now",
    replace: "cell.sum, 0, ahead.sum, line.now",
    tests: ["tests/admission_order_test.ts", "tests/standing_alone_test.ts"],
  },
  {
    id: "reserve-for-the-one-before",
    rules: ["MON-17", "MON-18"],
    file: "assembly/queue.ts",
    find: "return line.head === asker ? null : setAside(line, key);",
    replace:
      "const before = asker.previous;\n  for (let i = 0; before !== null && i < before.cellCount; i++) {\n    if (cellAt(before, i).key === key) return cellAt(before, i);\n  }\n  return null;",
    tests: ["tests/admission_order_test.ts"],
  },
  {
    id: "reserve-against-the-head-itself",
    rules: ["MON-18", "MON-21", "MON-07"],
    file: "assembly/queue.ts",
    find: "return line.head === asker ? null : setAside(line, key);",
    replace: "return setAside(line, key);",
    tests: ["tests/admission_order_test.ts", "tests/admission_test.ts"],
  },
  {
    id: "reserve-nothing-on-custom-accounts",
    rules: ["MON-18", "MON-21"],
    file: "core/pass.ts",
    find: "?.amounts ?? NOTHING;",
    replace: "?.amounts.slice(0, 0) ?? NOTHING;",
    tests: ["tests/admission_order_test.ts"],
  },
  {
    id: "reserve-against-a-custom-head-itself",
    rules: ["MON-18", "MON-07"],
    file: "core/pass.ts",
    find: "if (head === waiter) return NOTHING;",
    replace: "",
    tests: ["tests/admission_order_test.ts", "tests/admission_test.ts"],
  },
  {
    id: "reserve-by-limiter-not-key",
    rules: ["DEM-07"],
    file: "core/pass.ts",
    find: "find((each) => each.key === key)",
    replace: "find((each) => each.limiter === waiter.demand.entries[entry]!.limiter)",
    tests: ["tests/grant_and_demand_test.ts", "tests/mutant_gaps_test.ts"],
  },
];

/** Rule 2: behind a head that is short of memory nobody asks memory, and the head's deadline counts. */
export const MEMORY_SHORT: readonly Mutant[] = [
  {
    id: "memory-asked-behind-a-short-head",
    rules: ["MON-36", "WAK-06"],
    file: "assembly/walk.ts",
    find: "if (waiter !== head && head.flags & WAITER_MEMORY_SHORT) {",
    replace: "if (false) {",
    tests: ["tests/admission_memory_test.ts", "tests/deadline_test.ts"],
  },
  {
    id: "memory-followers-look-at-once",
    rules: ["MON-36", "WAK-06"],
    file: "assembly/walk.ts",
    find: "line.attemptDeadline = line.headDeadline;",
    replace: "line.attemptDeadline = line.now;",
    tests: ["tests/admission_memory_test.ts", "tests/deadline_test.ts"],
  },
  {
    id: "memory-followers-not-held",
    rules: ["MON-36", "EVT-10"],
    file: "assembly/walk.ts",
    find: "    return holdOnMemory(line, waiter);",
    replace: "    return hold(line, waiter);",
    tests: ["tests/admission_memory_test.ts", "tests/admission_event_test.ts"],
  },
  {
    id: "memory-mark-never-cleared",
    rules: ["MON-37"],
    file: "assembly/walk.ts",
    find: "waiter.flags &= ~WAITER_MEMORY_SHORT;",
    replace: "",
    tests: ["tests/admission_memory_test.ts"],
  },
  {
    id: "memory-line-stops-empty-demands",
    rules: ["MON-36", "MON-35"],
    file: "assembly/walk.ts",
    find: "if (waiter.cellCount == 0) return",
    replace: "if (waiter.cellCount == 0 && (line.head!.flags & WAITER_MEMORY_SHORT) == 0) return",
    tests: ["tests/admission_memory_test.ts", "tests/mutant_gaps_test.ts"],
  },
  {
    id: "memory-asked-once-for-all",
    rules: ["MON-38", "MON-36"],
    file: "assembly/walk.ts",
    find: "if (waiter !== head && head.flags & WAITER_MEMORY_SHORT) {",
    replace:
      "if (waiter !== head && (head.flags & WAITER_MEMORY_SHORT || (head.holds > 0 && head.memoryOrder == 0))) {",
    tests: ["tests/mutant_gaps_test.ts"],
  },
];

/** Rule 3: every entry is asked; the deadline is the latest over the short ones, none if any has none. */
export const DEADLINES: readonly Mutant[] = [
  {
    id: "stop-at-the-first-no",
    rules: ["MON-05", "MON-06"],
    file: "assembly/attempt.ts",
    find: "while (line.entry < waiter.cellCount) {",
    replace: "while (line.entry < waiter.cellCount && line.shorts == 0) {",
    tests: ["tests/admission_test.ts"],
  },
  {
    id: "stop-at-the-first-no-inline",
    rules: ["MON-06", "FLT-05"],
    file: "assembly/border_attempts.ts",
    find: "if (answer == NO) continue;",
    replace: "if (answer == NO) return NO;",
    tests: ["tests/mutant_gaps_test.ts"],
  },
  {
    id: "deadline-of-the-last-short-account",
    rules: ["WAK-06"],
    file: "assembly/attempt.ts",
    find: "max(line.attemptDeadline, nativeEarliest(line, waiter, cell))",
    replace: "nativeEarliest(line, waiter, cell)",
    tests: ["tests/mutant_gaps_test.ts"],
  },
  {
    id: "deadline-of-the-last-custom-account",
    rules: ["WAK-06"],
    file: "assembly/attempt.ts",
    find: "line.attemptDeadline = max(line.attemptDeadline, instant);",
    replace: "line.attemptDeadline = instant;",
    tests: ["tests/deadline_test.ts"],
  },
  {
    id: "deadline-null-is-ignored",
    rules: ["WAK-06"],
    file: "core/answers.ts",
    find: "if (answer === null) return Infinity;",
    replace: "if (answer === null) return -1e12;",
    tests: ["tests/deadline_test.ts"],
  },
  {
    id: "deadline-without-the-reservation",
    rules: ["WAK-10"],
    file: "assembly/attempt.ts",
    find: "cell.count + ahead.count, cell.sum + ahead.sum, line.now",
    replace: "cell.count, cell.sum, line.now",
    tests: ["tests/deadline_test.ts", "tests/standing_alone_test.ts"],
  },
  {
    id: "deadline-of-the-line-is-the-latest",
    rules: ["WAK-05", "WAK-06"],
    file: "assembly/walk.ts",
    find: "line.deadline = min(line.deadline, instant);",
    replace: "line.deadline = line.deadline == Infinity ? instant : max(line.deadline, instant);",
    tests: ["tests/deadline_test.ts"],
  },
  {
    id: "deadline-of-the-head-only",
    rules: ["WAK-05", "WAK-10"],
    file: "assembly/walk.ts",
    find: "line.deadline = min(line.deadline, instant);",
    replace: "if (line.cursor === line.head) line.deadline = instant;",
    tests: ["tests/deadline_test.ts"],
  },
];
