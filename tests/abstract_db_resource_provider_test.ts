// What the base class of database providers keeps, whatever a driver does.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { type DBManagedResource, UncorrectableError } from "../mod.ts";
import { type Connection, fails, never, ScriptedProvider } from "./scripted_provider.ts";

/** Lets everything happen that waits for nothing but promises. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** A handle with an open transaction, and an empty log. */
async function begun(): Promise<{ provider: ScriptedProvider; handle: DBManagedResource<Connection> }> {
  const provider = new ScriptedProvider();
  const handle = await provider.acquire();
  await provider.begin(handle);
  provider.log.length = 0;
  return { provider, handle };
}

/** What a promise fails with. */
async function faultOf(promise: Promise<unknown>): Promise<UncorrectableError> {
  const fault = await promise.then(() => null, (error: unknown) => error);
  assert.ok(fault instanceof UncorrectableError, `it failed with ${fault}`);
  return fault;
}

describe("AbstractDBResourceProvider", () => {
  it("DB-04 DB-09 asks the driver in order, once each, and hands a sound connection back", async () => {
    const provider = new ScriptedProvider();
    const handle = await provider.acquire(true);
    await provider.begin(handle);
    await provider.commit(handle);
    await provider.commit(handle);
    await provider.begin(handle);
    await provider.close(handle);
    await provider.close(handle);
    await provider.rollback(handle);
    await provider.awaitCompletion(handle);
    provider.abort(handle);
    const work = ["beginOn", "commitOn", "beginOn", "rollbackOn"];
    assert.deepEqual(provider.log, ["checkOut read-only", ...work, "restore", "handBack sound"]);
  });

  it("runs the verbs of one handle one after another, awaited or not", async () => {
    const provider = new ScriptedProvider();
    const handle = await provider.acquire();
    let [running, most] = [0, 0];
    const slow = async () => {
      most = Math.max(most, ++running);
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
      running--;
    };
    provider.script = { beginOn: slow, commitOn: slow, rollbackOn: slow, restore: slow };
    const { begin, commit, rollback, close } = provider;
    const verbs = [begin, commit, begin, rollback, begin, close];
    await Promise.all(verbs.map((verb) => verb.call(provider, handle)));
    assert.equal(most, 1);
    const work = ["beginOn", "commitOn", "beginOn", "rollbackOn", "beginOn", "rollbackOn"];
    assert.deepEqual(provider.log, ["checkOut", ...work, "restore", "handBack sound"]);
  });

  it("the end of the job's work is told once, when a close begins and before it waits for anything", async () => {
    const { provider, handle } = await begun();
    provider.script.commitOn = () => settle();
    provider.endOfWork = () => void provider.log.push("endWork");
    const commit = provider.commit(handle);
    const closes = [provider.close(handle), provider.close(handle)];
    assert.deepEqual(provider.log, ["endWork"]);
    await Promise.all([commit, ...closes]);
    assert.deepEqual(provider.log, ["endWork", "commitOn", "restore", "handBack sound"]);
  });

  it("an end of work that throws makes the connection unsound, and the close goes on", async () => {
    const { provider, handle } = await begun();
    provider.endOfWork = fails("no fence");
    const fault = await faultOf(provider.close(handle));
    assert.match(fault.message, /no fence/);
    assert.deepEqual(provider.log, ["rollbackOn", "restore", "handBack unsound"]);
  });

  it("DB-03 a checkout that fails is refused with the driver's error as cause", async () => {
    const provider = new ScriptedProvider();
    provider.script.checkOut = fails("the pool is exhausted");
    const fault = await faultOf(provider.acquire());
    assert.match(fault.message, /Cannot acquire on provider "scripted": the pool is exhausted/);
    assert.equal((fault.cause as Error).message, "the pool is exhausted");
    provider.log.length = 0;
    for (const readOnly of [null, 1, "true"]) {
      await assert.rejects(provider.acquire(readOnly as never), {
        name: "TypeError",
        message: /readOnly is .*it should be true or false/,
      });
    }
    assert.deepEqual(provider.log, []);
  });

  it("refuses a second transaction, and work on a handle that is closed or aborted", async () => {
    const { provider, handle } = await begun();
    await assert.rejects(provider.begin(handle), { code: "invalid_state", message: /a transaction is open/ });
    await provider.close(handle);
    const { provider: other, handle: aborted } = await begun();
    other.abort(aborted);
    const ended = [[provider, handle, "closed"], [other, aborted, "aborted"]] as const;
    for (const [owner, each, how] of ended) {
      const refusal = {
        code: "invalid_state",
        message: new RegExp(`the handle was ${how}, acquire another`),
      };
      await assert.rejects(owner.begin(each), refusal);
      await assert.rejects(owner.commit(each), refusal);
      assert.throws(() => each.unwrap(), refusal);
      await owner.rollback(each);
      await owner.awaitCompletion(each);
    }
    assert.deepEqual([provider.log, other.log], [["rollbackOn", "restore", "handBack sound"], ["sever"]]);
  });

  it("DB-08 after a begin or a commit that failed, a rollback is asked for, and only one that succeeds ends it", async () => {
    for (const hook of ["beginOn", "commitOn"] as const) {
      const provider = new ScriptedProvider();
      const handle = await provider.acquire();
      provider.script = { [hook]: fails("no"), rollbackOn: fails("not yet") };
      await faultOf(hook === "beginOn" ? provider.begin(handle) : commitOf(provider, handle));
      await provider.awaitCompletion(handle);
      await faultOf(provider.rollback(handle));
      provider.script = {};
      provider.log.length = 0;
      await provider.rollback(handle);
      await provider.rollback(handle);
      await provider.begin(handle);
      assert.deepEqual(provider.log, ["rollbackOn", "beginOn"]);
    }
  });

  it("DB-12 DB-17 close and abort free whoever awaits completion before they ask the driver", async () => {
    for (const verb of ["close", "abort"] as const) {
      const { provider, handle } = await begun();
      provider.script = { rollbackOn: never, sever: never };
      let isFree = false;
      void provider.awaitCompletion(handle).then(() => isFree = true);
      await settle();
      assert.equal(isFree, false);
      void provider[verb](handle);
      await settle();
      assert.equal(isFree, true, verb);
    }
  });

  it("DB-19 a close whose steps fail hands the connection back all the same, unsound, and reports every failure once", async () => {
    const { provider, handle } = await begun();
    provider.script = { rollbackOn: fails("rollback failed"), handBack: fails("no pool") };
    const fault = await faultOf(provider.close(handle));
    assert.ok(fault.cause instanceof AggregateError);
    const messages = fault.cause.errors.map((each: Error) => each.message);
    assert.equal(messages.length, 2);
    assert.match(messages[0]!, /roll back .*: rollback failed/);
    assert.match(messages[1]!, /hand a connection back .*: no pool/);
    await provider.close(handle);
    assert.deepEqual(provider.log, ["rollbackOn", "handBack unsound"]);
  });

  it("DB-19 a connection that cannot be restored is handed back unsound", async () => {
    const { provider, handle } = await begun();
    provider.script.restore = fails("it stays read-only");
    const fault = await faultOf(provider.close(handle));
    assert.equal((fault.cause as Error).message, "it stays read-only");
    assert.deepEqual(provider.log, ["rollbackOn", "restore", "handBack unsound"]);
  });

  it("DB-10 DB-11 an abort ends a close that is stuck, and its connection is handed back once", async () => {
    const { provider, handle } = await begun();
    let endRollback = () => {};
    provider.script.rollbackOn = () => new Promise<void>((resolve) => endRollback = resolve);
    const stuck = provider.close(handle);
    const beside = provider.close(handle);
    await settle();
    assert.deepEqual(provider.log, ["rollbackOn"]);
    provider.abort(handle);
    assert.match((await faultOf(stuck)).message, /the connection was aborted/);
    await beside;
    endRollback();
    await settle();
    await provider.close(handle);
    provider.abort(handle);
    assert.deepEqual(provider.log, ["rollbackOn", "sever", "handBack unsound"]);
  });

  it("DB-10 an abort ends a commit that is stuck and what queues behind it, without waiting for the driver", async () => {
    const { provider, handle } = await begun();
    provider.script = { commitOn: never, sever: never };
    const stuck = faultOf(provider.commit(handle));
    const behind = [provider.begin(handle), provider.rollback(handle)];
    await settle();
    provider.abort(handle);
    assert.match((await stuck).message, /the connection was aborted/);
    const [begin, rollback] = await Promise.allSettled(behind);
    assert.deepEqual([begin?.status, rollback?.status], ["rejected", "fulfilled"]);
    await provider.close(handle);
    assert.deepEqual(provider.log, ["commitOn", "sever", "handBack unsound"]);
  });

  it("DB-10 a connection that cannot be severed is handed back unsound by the close", async () => {
    const { provider, handle } = await begun();
    provider.script.sever = fails("no socket");
    assert.throws(() => provider.abort(handle), { name: "UncorrectableError", message: /no socket/ });
    await provider.close(handle);
    const { provider: late, handle: aborted } = await begun();
    late.script.sever = () => Promise.reject(new Error("no socket"));
    late.abort(aborted);
    await late.close(aborted);
    for (const { log } of [provider, late]) assert.deepEqual(log, ["sever", "handBack unsound"]);
  });

  it("DB-06 refuses the handles of another provider before its driver is asked", async () => {
    const [one, other] = [await begun(), await begun()];
    await assert.rejects(one.provider.close(other.handle), {
      name: "TypeError",
      message: /"scripted": handle is/,
    });
    assert.throws(() => one.provider.abort(other.handle), TypeError);
    assert.deepEqual([one.provider.log, other.provider.log], [[], []]);
  });
});

describe("Random verbs on a provider whose driver fails and hangs", () => {
  const VERBS = ["begin", "commit", "rollback", "close", "abort", "awaitCompletion"] as const;
  const OUTCOMES = ["works", "works", "works", "fails", "hangs"] as const;

  it("DB-09 DB-10 DB-19 hand each connection back once, sound only with no transaction open, and then leave it alone", async () => {
    const reached = { sound: 0, unsound: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...VERBS), { maxLength: 12 }),
        fc.infiniteStream(fc.constantFrom(...OUTCOMES)),
        async (verbs, outcomes) => {
          const provider = new ScriptedProvider();
          const handle = await provider.acquire();
          let [isOpen, running, most, isCut] = [false, 0, 0, false];
          const play = (ends: boolean) => () => {
            const outcome = outcomes.next().value;
            isOpen ||= !ends;
            if (!isCut) most = Math.max(most, ++running);
            if (outcome === "hangs") return never();
            running--;
            if (outcome === "fails") throw new Error("the driver says no");
            if (ends) isOpen = false;
          };
          provider.script = {
            beginOn: play(false),
            commitOn: play(true),
            rollbackOn: play(true),
            sever: () => void (isCut = true),
          };
          const calls = [...verbs, "close" as const].map((verb) => provider[verb](handle)?.catch(() => {}));
          await settle();
          const isOpenAtClose = isOpen;
          provider.abort(handle);
          await Promise.all(calls);
          const back = provider.log.filter((line) => line.startsWith("handBack"));
          assert.equal(back.length, 1, provider.log.join());
          assert.ok(most <= 1, "one piece of work at a time");
          assert.equal(provider.log.at(-1), back[0], provider.log.join());
          if (back[0] === "handBack sound") assert.deepEqual([isOpenAtClose, isCut], [false, false]);
          reached[back[0] === "handBack sound" ? "sound" : "unsound"]++;
        },
      ),
      { numRuns: 300 },
    );
    assert.ok(reached.sound > 30 && reached.unsound > 30, JSON.stringify(reached));
  });
});

async function commitOf(provider: ScriptedProvider, handle: DBManagedResource<Connection>): Promise<void> {
  await provider.begin(handle);
  await provider.commit(handle);
}
