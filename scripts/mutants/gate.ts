/** Faults in the counting gate. */
import type { Mutant } from "./mutant.ts";

/** The counting gate: so many permits, counted */
export const GATE: readonly Mutant[] = [
  {
    id: "gate-never-full",
    rules: ["CNT-02", "CG-01"],
    file: "assembly/accounts/counting_gate.ts",
    find: "+ <i64> ahead <= <i64> gate.capacity",
    replace: "+ <i64> ahead < <i64> gate.capacity",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-sets-nothing-aside",
    rules: ["CNT-02"],
    file: "assembly/accounts/counting_gate.ts",
    find: " + <i64> ahead <= ",
    replace: " <= ",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-never-refuses",
    rules: ["CNT-03"],
    file: "assembly/accounts/counting_gate.ts",
    find: "return NEVER_PERMITS;",
    replace: "return NO;",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-gives-back-too-much",
    rules: ["BEY-09", "CNT-02"],
    file: "assembly/accounts/counting_gate.ts",
    find: "if (permits > gate.inUse) return false;",
    replace: "",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-grows-and-wakes-nobody",
    rules: ["BEY-29"],
    file: "assembly/accounts/counting_gate.ts",
    find: "  return grew;",
    replace: "  return false;",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-given-to-wakes-nobody",
    rules: ["BEY-09"],
    file: "assembly/border_accounts.ts",
    find: "accounts.give(account, count, sum, now) ? accounts.gained(account) : GIVE_DECLINED",
    replace: "accounts.give(account, count, sum, now) ? 0 : GIVE_DECLINED",
    tests: ["tests/counting_gate_test.ts"],
  },
  {
    id: "gate-give-is-no-activity",
    rules: ["CNT-05", "BEY-15"],
    file: "assembly/accounts/account.ts",
    find: "  account.lastActivity = wall;\n  return true;",
    replace: "  return true;",
    tests: ["tests/counting_gate_test.ts", "tests/records_test.ts"],
  },
  {
    id: "gate-has-an-instant",
    rules: ["CNT-04"],
    file: "assembly/accounts/account.ts",
    find: "  return Infinity;",
    replace: "  return now;",
    tests: ["tests/counting_gate_test.ts"],
  },
];
