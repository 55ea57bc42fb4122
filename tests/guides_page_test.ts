// docs/jobs.md, docs/operating.md and docs/migrating.md: their snippets are files of examples/, and those run.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { Admission, CountingGate, createJobContext, Demand } from "../mod.ts";
import { ManualClock, ScriptedLimiter } from "../testing/mod.ts";

const ROOT = new URL("../", import.meta.url);

/** What each example prints, by page. */
const PAGES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  operating: {
    "alerts.ts": /^\[\]\n\[ "search: throttle:2\.0x" \]$/m,
    "events.ts":
      /^db:orders HELD \(1\/1, waiters=2\)\ndb:orders REJECTED \(timeout\)\ntimeout\n.*RELEASED.*\n.*GRANTED after a while/m,
    "health_endpoint.ts":
      /^200 \{"queueSize":0,"oldestWaitMs":0,"clients":1\} 1 held\n\[ "memory", "gpt", "client red" \]\n503$/m,
    "looking_on.ts":
      /^gpt .* 1 +-\ndb:orders .*\nsummary-7 lacks \d+ of gpt\nheld: gpt, db:orders in time\nfalse 3 permits can never fit/m,
    "stopping.ts": /^second stopped\nfirst is done\nstopped in time: true$/m,
    "stopping_server.ts": /^(closed\n200 and 503|200 and 503\nclosed)$/m,
  },
  jobs: {
    "batch.ts":
      /^Job "report 9" pauses for 20 ms and asks anew, retry 1 of 3: HTTP 429 from anthropic: too early[\s\S]*\n60 stored, 0 left, spent 0\.033000 USD\nheld: 0 places, 0 connections, 0 pauses$/m,
    "first_job.ts":
      /(a summary of order [1-4]\n){4}.*would exceed its cap of 0\.050000 USD\nspent 0\.013200 USD, connections in use: 0$/m,
    "one_or_two.ts": /^one demand: 4040 ms, two: 1040 ms$/m,
    "own_client.ts":
      /^about a fox 60000\ncorrectable 404 The upstream failed: HTTP 404 from openai: no such model$/m,
    "own_spend_gate.ts":
      /max_tokens: 12096,.*budget_tokens: 8000.*answer: 4096.*may cost 0\.631440 USD, at most 0\.500000 USD/s,
  },
  migrating: {
    "bottleneck.ts": /^4 true\n95\/100 slots available/m,
    "failed_work.ts": /^results 0$/m,
    "hono_rate_limiter.ts":
      /^red 200 limit=2, remaining=1, .*\nred 200 .*\nred 429 limit=2, remaining=0, reset=60 60\nblue 200 .* null\n 200 .* null$/m,
    "p_limit.ts": /^20 pages, 8 at a time\n0 0$/m,
    "p_queue.ts": /^12 true$/m,
    "urgent_work.ts": /^one line: 9897 ms\ntwo lines: 97 ms\na place kept free: 0 ms$/m,
  },
};

const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

function run(path: string): string {
  const script = fileURLToPath(new URL(path, ROOT));
  const args = process.versions.bun === undefined ? ["run", "-A", script] : [script];
  return execFileSync(process.execPath, args, { encoding: "utf8", env: { ...process.env, NO_COLOR: "1" } });
}

for (const [page, prints] of Object.entries(PAGES)) {
  describe(`The page docs/${page}.md`, () => {
    const folder = `examples/${page}/`;
    const files = readdirSync(new URL(folder, ROOT)).filter((file) => file.endsWith(".ts")).sort();

    it("quotes every example word for word, but for the imports, and nothing else", () => {
      const quoted = [...read(`docs/${page}.md`).matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
      const sources = files.map((file) =>
        read(folder + file)
          .replace("../../adapters/drizzle/mod.ts", "@sluice/admission/drizzle")
          .replace("../../adapters/fetch.ts", "@sluice/admission/fetch")
          .replace("../../adapters/hono.ts", "@sluice/admission/hono")
          .replace("../../testing/mod.ts", "@sluice/admission/testing")
          .replace("../../mod.ts", "@sluice/admission")
          .replace("../../testing/mod.ts", "@sluice/admission/testing")
      );
      assert.deepEqual(quoted.toSorted(), sources.toSorted());
    });

    for (const file of files) {
      it(`runs ${file}`, () => {
        assert.match(
          run(folder + file),
          prints[file] ?? assert.fail(`what ${file} prints is not said in this test`),
        );
      });
    }
  });
}

describe("What the pages say", () => {
  it("of events is every type and every reason that there is", () => {
    const source = read("core/events.ts");
    const listed = [...read("docs/operating.md").matchAll(/^\| `(\w+)` /gm)].map((found) => found[1]!);
    for (const union of ["LimiterEventType", "RejectReason"]) {
      const members = new RegExp(`type ${union} = ([^;]+);`).exec(source)![1]!.match(/\w+/g)!;
      assert.ok(members.length >= 5);
      assert.deepEqual(members.filter((member) => !listed.includes(member)), []);
    }
  });

  it("of reasons to leave is what a sink hears", async () => {
    const heard: (string | null)[] = [];
    const clock = new ManualClock();
    const admission = new Admission({
      memory: null,
      clock,
      events: ({ rejectReason }) => rejectReason !== null && heard.push(rejectReason),
    }).start();
    const gate = new CountingGate("gate", 1);
    const [demand, tooLarge] = [new Demand().add(gate), new Demand().add(gate, 2)];
    const broken = new Demand().add(new ScriptedLimiter("broken", "throws"), 1);
    const held = await admission.admit(demand);
    const aborter = new AbortController();
    const context = createJobContext();
    const ends = [
      admission.admit(demand, { signal: aborter.signal }),
      admission.admit(demand, { context }),
      admission.admit(demand, { timeoutMs: 1 }),
      admission.admit(tooLarge),
      admission.admit(broken),
      admission.admit(demand),
    ].map((admitted) => admitted.catch((error) => error));
    await clock.advance(0);
    aborter.abort();
    context.cancel();
    await clock.advance(1);
    held.release();
    (await ends.pop()).release();
    await admission.admit(demand);
    const last = admission.admit(demand).catch((error) => error);
    await clock.advance(0);
    admission.stop();
    await Promise.all([...ends, last]);
    const expected = ["cancelled", "cancelled", "timeout", "circuit_blocked", "aborted", "shutdown"];
    assert.deepEqual(heard.toSorted(), expected.toSorted());
    const meanings = new Map(
      [...read("docs/operating.md").matchAll(/^\| `([a-z_]+)` +\| ([^|]+) \|/gm)].map((
        [, name, text],
      ) => [name, text]),
    );
    assert.match(meanings.get("cancelled")!, /signal.*context/);
    assert.match(meanings.get("circuit_blocked")!, /refuses.*ever give/);
    assert.match(meanings.get("aborted")!, /failed.*defect/);
  });

  it("of other limiters holds for the versions that the bench runs", () => {
    const page = read("docs/migrating.md").replace(/\s+/g, " ");
    const { dependencies } = JSON.parse(read("bench/package.json")) as {
      dependencies: Record<string, string>;
    };
    for (const name of ["bottleneck", "p-limit", "p-queue"]) {
      assert.ok(page.includes(`${name} ${dependencies[name]}`), name);
    }
  });
});
