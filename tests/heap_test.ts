/** The heap readers, one per runtime. */
import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { Admission, Demand, MemoryPressureGate } from "../mod.ts";
import { realLimit, runtimeHeapReader, type RuntimeProcess } from "../core/heap.ts";
import { defaultMemory } from "../core/memory.ts";
import { kernelMemoryBytes } from "../core/kernel.ts";
import { ManualClock, SwitchMemory } from "../testing/mod.ts";
import { scenario } from "./scenario.ts";

const isBun = process.versions["bun"] !== undefined;
const GIGABYTE = 2 ** 30;

/** A `process` with V8's statistics behind it. */
function v8Process(used: number, limit: number, more: Partial<RuntimeProcess> = {}): RuntimeProcess {
  const getHeapStatistics = () => ({ used_heap_size: used, heap_size_limit: limit });
  return { getBuiltinModule: (id) => id === "node:v8" ? { getHeapStatistics } : undefined, ...more };
}

/** Bun's `process`: whoever asks for its heap statistics fails. */
function bunProcess(rss: number, constrained: number): RuntimeProcess {
  return {
    versions: { bun: "1.4.5" },
    memoryUsage: { rss: () => rss },
    constrainedMemory: () => constrained,
    getBuiltinModule: (id) => {
      assert.notEqual(id, "node:v8", "Bun's heap statistics cost 12 ms");
      return id === "node:os" ? { totalmem: () => 16 * GIGABYTE } : undefined;
    },
  };
}

describe("The heap reader of a runtime", () => {
  it("MEM-02 on Node and Deno it is V8's heap and the kernel's memory over V8's limit", () => {
    const read = runtimeHeapReader(null, { process: v8Process(300, 1_000) })!;
    assert.deepEqual(read(), { usedBytes: 300 + kernelMemoryBytes(), limitBytes: 1_000 });
    const limited = runtimeHeapReader(600, { process: v8Process(300, 1_000) })!;
    assert.equal(limited().limitBytes, 600);
  });

  it("MEM-02 on Node a limit that was set by flag is the limit", () => {
    const limitOf = (more: Partial<RuntimeProcess>) =>
      runtimeHeapReader(null, { process: v8Process(1, 304 * 2 ** 20, more) })!().limitBytes / 2 ** 20;
    assert.equal(limitOf({ execArgv: [] }), 304);
    assert.equal(limitOf({ execArgv: ["--expose-gc", "--max-old-space-size=256"] }), 256);
    assert.equal(limitOf({ env: { NODE_OPTIONS: "--max_old_space_size=200 --inspect" } }), 200);
    const both = {
      execArgv: ["--max-old-space-size=256"],
      env: { NODE_OPTIONS: "--max-old-space-size=200" },
    };
    assert.equal(limitOf(both), 256);
    assert.equal(limitOf({ execArgv: ["--max-old-space-size=4096"] }), 304, "V8 itself knows better");
    const onDeno = {
      versions: { deno: "2.9.6" },
      env: new Proxy({}, {
        get: () => assert.fail("reading it may ask the user for a permission"),
      }),
    };
    assert.equal(limitOf(onDeno), 304);
  });

  it("MEM-02 on Bun it is resident memory over the container's limit, never the heap statistics", () => {
    const read = runtimeHeapReader(null, { process: bunProcess(GIGABYTE, 4 * GIGABYTE) })!;
    assert.deepEqual(read(), { usedBytes: GIGABYTE, limitBytes: 4 * GIGABYTE });
    const limited = runtimeHeapReader(2 * GIGABYTE, { process: bunProcess(GIGABYTE, 16 * GIGABYTE) })!;
    assert.equal(limited().limitBytes, 2 * GIGABYTE);
  });

  it("MEM-02 a limit of the machine's memory or more is none, however it is spelled", () => {
    const total = 16 * GIGABYTE;
    for (const spelled of [undefined, 0, -1, NaN, total, 9.2e18, 2 ** 64, Infinity]) {
      assert.equal(realLimit(spelled, total), null, String(spelled));
    }
    assert.equal(realLimit(total - 1, total), total - 1);
    for (const constrained of [16 * GIGABYTE, 2 ** 64]) {
      assert.equal(runtimeHeapReader(null, { process: bunProcess(GIGABYTE, constrained) }), null);
    }
  });

  it("MEM-02 elsewhere there is none", () => {
    const throwing = {
      getBuiltinModule: () => {
        throw new Error("not implemented");
      },
    };
    const nothings: { process?: RuntimeProcess; navigator?: { userAgent: string } }[] = [
      {},
      { process: {} },
      { process: { getBuiltinModule: () => undefined } },
      { process: { getBuiltinModule: () => ({ getHeapStatistics: () => undefined }) } },
      { process: throwing },
      { process: v8Process(0, 0) },
      { process: v8Process(1, 2), navigator: { userAgent: "Cloudflare-Workers" } },
    ];
    for (const globals of nothings) assert.equal(runtimeHeapReader(null, globals), null);
    assert.equal(runtimeHeapReader(100, {}), null, "a limit alone is no reading");
  });

  it("MEM-02 this runtime's own reads what it should", () => {
    const read = runtimeHeapReader(isBun ? 8 * GIGABYTE : null);
    assert.ok(read !== null);
    const { usedBytes, limitBytes } = read();
    assert.ok(usedBytes > 1_000_000 && usedBytes < limitBytes, `${usedBytes} of ${limitBytes}`);
    const gate = new MemoryPressureGate(isBun ? { limitBytes: 8 * GIGABYTE } : {});
    assert.equal(gate.capacity, limitBytes);
    assert.ok(gate.currentInUse > 1_000_000);
    assert.equal(gate.fits([], []), true);
  });
});

describe("The default memory account", () => {
  it("is shown by its Admission, as is one that was given", () => {
    const clock = new ManualClock();
    assert.equal(new Admission({ clock }).memory, defaultMemory(clock));
    assert.equal(new Admission({ memory: null }).memory, null);
    const memory = new SwitchMemory();
    assert.equal(new Admission({ memory }).memory, memory);
  });

  it(
    "MEM-01 it is one for all Admissions of a kernel and a clock, where the heap can be read",
    scenario(async (world) => {
      const gate = defaultMemory(world.clock);
      assert.equal(gate !== null, runtimeHeapReader(null) !== null);
      assert.equal(defaultMemory(world.clock), gate);
      if (gate === null) return;
      assert.notEqual(defaultMemory(new ManualClock()), gate);
      const demand = new Demand().add(world.gate("slot", 2));
      const admission = new Admission({ clock: world.clock }).start();
      assert.equal(admission.explain(demand).accounts[0]!.account, "memory");
      (await admission.admit(demand)).release();
      const without = new Admission({ clock: world.clock, memory: null });
      assert.equal(without.explain(demand).accounts[0]!.account, "slot");
    }),
  );
});
