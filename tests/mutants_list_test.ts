/** The list of planted faults, `npm run mutants`: each can be planted in the sources as they are, and there are enough. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { MUTANTS } from "../scripts/mutants/all.ts";
import { HARD_RULES } from "../scripts/mutants/hard_rules.ts";
import { findErrors, type Mutant, plant } from "../scripts/mutants/mutant.ts";
import { ROOT } from "../scripts/support/project.ts";

/** Where the arithmetic, the tables and the border of the kernel are. */
const KERNEL_FILES = /^assembly\/(accounts\/|slab|queue|border_)/;

const sample: Mutant = {
  id: "sample",
  rules: ["MON-01"],
  file: "core/monitor.ts",
  find: "class Monitor",
  replace: "class Other",
  tests: ["tests/admission_test.ts"],
};

describe("The list of planted faults", () => {
  it("holds only faults whose text occurs once, and tests that name one of their rules", () => {
    assert.deepEqual(findErrors(ROOT, MUTANTS), []);
  });

  it("has 60 or more, 20 of them in the kernel's accounts, tables and border", () => {
    assert.ok(MUTANTS.length >= 60, `${MUTANTS.length}`);
    const inKernel = MUTANTS.filter(({ file }) => KERNEL_FILES.test(file));
    assert.ok(inKernel.length >= 20, `${inKernel.length}`);
  });

  it("has two or more for each of the ten hard rules", () => {
    assert.deepEqual(HARD_RULES.map((rule) => rule.number), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const { number, ids, mutants } of HARD_RULES) {
      const named = mutants.filter(({ rules }) => rules.some((rule) => ids.includes(rule)));
      assert.ok(named.length >= 2, `rule ${number} has ${named.length}`);
    }
  });

  it("says which fault can no longer be planted, and why", () => {
    assert.equal(plant(sample, "a class Monitor b"), "a class Other b");
    assert.equal(plant(sample, "class Monitor, class Monitor"), null);
    assert.equal(plant({ ...sample, find: "aa" }, "aaa"), null, "overlapping ones are two");
    const errors = (change: Partial<Mutant>) => findErrors(ROOT, [{ ...sample, ...change }]).join("\n");
    assert.equal(errors({}), "");
    assert.match(
      errors({ find: "no such text" }),
      /^mutant sample cannot be planted.* 0 times in core\/monitor\.ts/,
    );
    assert.match(errors({ find: "this." }), /mutant sample cannot be planted.* \d\d+ times/);
    assert.match(errors({ file: "core/none.ts" }), /names core\/none\.ts, which does not exist/);
    assert.match(
      errors({ tests: ["tests/none_test.ts"] }),
      /names tests\/none_test\.ts, which does not exist/,
    );
    assert.match(errors({ rules: ["ZZZ-" + "01"] }), /cannot be caught by tests\/admission_test\.ts/);
    assert.match(errors({ replace: sample.find }), /changes nothing/);
    assert.match(findErrors(ROOT, [sample, sample]).join(), /stands twice/);
  });
});
