/** Faults in the memory gate, and in how an Admission goes by it. */

import type { Mutant } from "./mutant.ts";

const GATE = "assembly/accounts/memory_gate.ts";

/** The memory gate: latch, floor, penalty, pacing, completions; then who watches it, who asks it, and what it reads. */
export const MEMORY_GATE: readonly Mutant[] = [
  {
    id: "memory-latch-sets-above-its-threshold",
    rules: ["MEM-10"],
    file: GATE,
    find: "return reading >= MEMORY_CRITICAL ||",
    replace: "return reading > MEMORY_CRITICAL ||",
    tests: ["tests/memory_pressure_gate_test.ts"],
  },
  {
    id: "memory-latch-clears-at-its-threshold",
    rules: ["MEM-10", "MEM-07"],
    file: GATE,
    find: "reading < MEMORY_RECOVERY) return false;",
    replace: "reading <= MEMORY_RECOVERY) return false;",
    tests: ["tests/memory_pressure_gate_test.ts"],
  },
  {
    id: "memory-paces-without-a-line",
    rules: ["MEM-24"],
    file: GATE,
    find: "return memoryHeld(memory) > 0 && !isNaN(memory.lastRelease);",
    replace: "return !isNaN(memory.lastRelease);",
    tests: ["tests/memory_pacing_test.ts"],
  },
  {
    id: "memory-wait-is-cut-down",
    rules: ["MEM-14"],
    file: GATE,
    find: "memoryFloor(memory, reading)) + 0.5);",
    replace: "memoryFloor(memory, reading)));",
    tests: ["tests/memory_growth_test.ts"],
  },
  {
    id: "memory-growth-since-the-last-release",
    rules: ["MEM-17", "MEM-13", "MEM-20"],
    file: GATE,
    find: "const points = (floor - memory.floorBeforeLast) * 100;",
    replace: "const points = (floor - memory.floorAtLast) * 100;",
    tests: ["tests/memory_growth_test.ts"],
  },
  {
    id: "memory-penalty-kept-at-every-look",
    rules: ["MEM-13", "MEM-20"],
    file: GATE,
    find: "  const isLatched = isLatchedAt(memory, reading) ? 1 : 0;",
    replace:
      "  memory.penalty = memoryPenalty(memory, memory.floor);\n  const isLatched = isLatchedAt(memory, reading) ? 1 : 0;",
    tests: ["tests/memory_growth_test.ts"],
  },
  {
    id: "memory-floor-follows-garbage",
    rules: ["MEM-05", "MEM-20"],
    file: GATE,
    find: "return isNaN(memory.previous) || reading < memory.previous ? reading : memory.floor;",
    replace: "return reading;",
    tests: ["tests/memory_look_test.ts", "tests/memory_growth_test.ts"],
  },
  {
    id: "memory-completion-outlives-a-release",
    rules: ["MEM-28", "MEM-29"],
    file: GATE,
    find: "  memory.hasCompletion = 0;",
    replace: "",
    tests: ["tests/memory_pacing_test.ts"],
  },
  {
    id: "memory-latch-swallows-a-completion",
    rules: ["MEM-31"],
    file: GATE,
    find: "  memory.isLatched = isLatched;",
    replace: "  memory.isLatched = isLatched;\n  if (isLatched) memory.hasCompletion = 0;",
    tests: ["tests/memory_pacing_test.ts", "tests/memory_gate_drain_test.ts"],
  },
  {
    id: "memory-instant-knows-of-a-completion",
    rules: ["MEM-38"],
    file: GATE,
    find: "if (!isPaced(memory)) return Infinity;",
    replace: "if (!isPaced(memory) || memory.hasCompletion) return Infinity;",
    tests: ["tests/memory_pacing_test.ts"],
  },
  {
    id: "memory-looks-when-it-likes",
    rules: ["MEM-36", "MEM-39"],
    file: GATE,
    find: "return min(dueAt(memory, reading), now + MEMORY_CHECK_TICKS);",
    replace: "return dueAt(memory, reading);",
    tests: ["tests/memory_pacing_test.ts", "tests/memory_gate_drain_test.ts"],
  },
  {
    id: "memory-stopped-still-releases",
    rules: ["MEM-42"],
    file: GATE,
    find: "if (verdict != YES || memory.isStopped) return verdict;",
    replace: "if (verdict != YES) return verdict;",
    tests: ["tests/memory_pacing_test.ts"],
  },
  {
    id: "memory-watching-is-a-look",
    rules: ["BEY-11"],
    file: "assembly/border_memory.ts",
    find: "  return gate.memoryFloor(memory, reading);",
    replace: "  memory.previous = reading;\n  return gate.memoryFloor(memory, reading);",
    tests: ["tests/memory_look_test.ts"],
  },
  {
    id: "memory-observers-share-the-sample",
    rules: ["BEY-11"],
    file: "core/heap_sampler.ts",
    find: "this.#renewed(this.#observed, nowTicks)",
    replace: "this.#renewed(this.#decided, nowTicks)",
    tests: ["tests/memory_look_test.ts"],
  },
  {
    id: "memory-meets-empty-demands",
    rules: ["MON-35"],
    file: "assembly/border_attempts.ts",
    find: "const meetsMemory = memory !== null && count > 0;",
    replace: "const meetsMemory = memory !== null;",
    tests: ["tests/memory_admission_test.ts"],
  },
  {
    id: "memory-hears-of-no-completion",
    rules: ["MEM-29"],
    file: "core/settlement.ts",
    find: "  collect(faults, () => monitor.memoryLink.giveBack());\n  return faults;\n",
    replace: "  return faults;\n",
    tests: ["tests/memory_line_test.ts"],
  },
  {
    id: "memory-held-for-ever",
    rules: ["MEM-36", "MON-36"],
    file: "assembly/attempt.ts",
    find: "line.attemptDeadline = memoryEarliest(memory, line.now, line.reading);",
    replace: "line.attemptDeadline = Infinity;",
    tests: ["tests/memory_gate_drain_test.ts"],
  },
  {
    id: "memory-wakes-no-line",
    rules: ["MEM-29"],
    file: "assembly/queue.ts",
    find:
      "if (line.askers == 0 && memory !== null && memory.kind != KIND_CUSTOM && !wireUp(memory, line)) return false;",
    replace: "",
    tests: ["tests/memory_line_test.ts"],
  },
  {
    id: "memory-reads-the-heap-for-every-job",
    rules: ["MEM-06"],
    file: "core/heap_sampler.ts",
    find: "nowTicks - atTicks < this.#everyTicks",
    replace: "nowTicks - atTicks < 0",
    tests: ["tests/memory_look_test.ts"],
  },
  {
    id: "memory-reader-complains-for-ever",
    rules: ["BEY-14"],
    file: "core/heap_sampler.ts",
    find: "if (!this.#hasFailed) this.#fault",
    replace: "this.#fault",
    tests: ["tests/memory_look_test.ts"],
  },
  {
    id: "memory-takes-the-machine-for-a-limit",
    rules: ["MEM-02"],
    file: "core/heap.ts",
    find: "constrained >= totalBytes",
    replace: "constrained > totalBytes",
    tests: ["tests/heap_test.ts"],
  },
];

/** Those that get the growth penalty wrong. */
export const PENALTIES: readonly Mutant[] = ofRules(["MEM-13", "MEM-14", "MEM-23"]);
/** Those that get the completion flag wrong. */
export const COMPLETIONS: readonly Mutant[] = ofRules(["MEM-29", "MEM-31", "MEM-38"]);

function ofRules(rules: readonly string[]): readonly Mutant[] {
  return MEMORY_GATE.filter((mutant) => mutant.rules.some((rule) => rules.includes(rule)));
}
