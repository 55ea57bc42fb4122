/** A job's context by itself: who hears of its end (monitor.md 4). */
import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { createJobContext } from "../mod.ts";

describe("A job's context", () => {
  it("CAN-09 a context runs its cancel callbacks exactly once, and late ones at once", () => {
    for (const end of ["cancel", "signalTimeout"] as const) {
      const context = createJobContext();
      const heard: [string, boolean][] = [];
      const listen = (name: string) => context.onCancel(() => void heard.push([name, context.isCancelled]));
      listen("first");
      listen("second");
      listen("taken back")!();
      assert.deepEqual([context.isCancelled, heard.length], [false, 0]);

      context[end]();
      context.cancel("again");
      context.cancel();
      context.signalTimeout();
      assert.deepEqual(heard, [["first", true], ["second", true]]);
      listen("late");
      assert.deepEqual(heard.slice(2), [["late", true]]);
      context.cancel();
      assert.equal(heard.length, 3);
    }
  });

  it("CAN-09 a callback that throws keeps no other from hearing", () => {
    const [one, other] = [new Error("one"), new Error("other")];
    const cancelWith = (faults: Error[]): string => {
      const context = createJobContext();
      let heard = "";
      for (const fault of faults) {
        context.onCancel(() => {
          throw fault;
        });
        context.onCancel(() => void (heard += fault.message));
      }
      assert.throws(() => context.cancel(), (thrown) => {
        if (faults.length === 1) return thrown === one;
        assert.deepEqual((thrown as AggregateError).errors, faults);
        return true;
      });
      return heard;
    };
    assert.equal(cancelWith([one]), "one");
    assert.equal(cancelWith([one, other]), "oneother");
  });
});
