// A crowd of jobs on the embedded database, with everything that goes wrong: never more connections than the bound, nothing lost.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { type SqliteStack, withDatabase, type WithDatabaseOptions } from "../adapters/drizzle/mod.ts";
import { Admission, JobTimeoutError, TimeoutError } from "../mod.ts";
import { Chance } from "./chance.ts";
import { type Breakable, fileDatabase } from "./drizzle_sqlite.ts";

const jobs = sqliteTable("jobs", { id: integer("id").primaryKey(), label: text("label") });
const schema = { jobs };
type Stack = SqliteStack<typeof schema>;

const JOBS = process.env.SOAK === "1" ? 500 : 60;
const BOUND = 4;
const SEED = Number(process.env.SEED ?? 20261130);

/** What becomes of a job. */
const FATES = ["commits", "reads", "throws", "breaks", "leaves", "hurries", "hangs", "strays"] as const;
type Fate = (typeof FATES)[number];

const NO_STOCK = new Error("no stock");
const GONE = new Error("the client has gone");

/** How a job is asked for; a client that leaves does so while others work. */
function optionsOf(fate: Fate): WithDatabaseOptions {
  const controller = new AbortController();
  if (fate === "leaves") setTimeout(() => controller.abort(GONE), 1);
  return {
    transaction: true,
    readOnly: fate === "reads",
    signal: controller.signal,
    ...(fate === "hurries" ? { timeoutMs: 2 } : {}),
    ...(fate === "hangs" ? { workTimeoutMs: 40 } : {}),
  };
}

async function work(
  db: Stack,
  label: string,
  { fate, provider }: { fate: Fate; provider: Breakable<typeof schema> },
) {
  if (fate === "reads") return void await db.select().from(jobs);
  await db.insert(jobs).values({ label });
  await new Promise((resolve) => setTimeout(resolve, 1));
  if (fate === "throws") throw NO_STOCK;
  if (fate === "breaks") provider.closeUnder(db);
  // Written after the end of its job, or not at all.
  if (fate === "strays") setTimeout(() => db.insert(jobs).values({ label: "stray" }).catch(() => {}), 3);
  while (fate === "hangs") {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await db.select().from(jobs);
  }
}

/** Whether a job of that fate may end so. */
function isExpected(fate: Fate, error: unknown): boolean {
  if (error === null) return !["throws", "breaks", "hangs"].includes(fate);
  if (fate === "throws") return error === NO_STOCK;
  if (fate === "breaks") return /Cannot commit on provider "jobs"/.test(String(error));
  if (fate === "leaves") return error === GONE;
  if (fate === "hurries") return error instanceof TimeoutError;
  return fate === "hangs" && error instanceof JobTimeoutError;
}

describe(`A fan-out of ${JOBS} jobs`, () => {
  it(`DB-13 DB-20 never has more than ${BOUND} connections out, and what is committed is what was said to be`, async () => {
    const { provider, watcher, dispose } = fileDatabase("jobs", {
      ...{ maxConcurrent: BOUND, schema, busyTimeoutMs: 60_000, setUp: "PRAGMA synchronous = OFF" },
    });
    const admission = new Admission({ memory: null }).start();
    const chance = new Chance(SEED);
    let peak = 0;
    const look = () => void (peak = Math.max(peak, provider.connectionsOut, provider.admission.currentInUse));
    const job = async (number: number, fate: Fate) => {
      const run = withDatabase(admission, provider, async (db) => {
        look();
        await work(db, String(number), { fate, provider }).finally(look);
      }, optionsOf(fate));
      const error: unknown = await run.then(() => null, (error) => error);
      assert.ok(isExpected(fate, error), `seed ${SEED}: a job that ${fate} ended with ${String(error)}`);
      return error === null && fate !== "reads" ? [String(number)] : [];
    };
    const fates = Array.from({ length: JOBS }, () => chance.pick(FATES));
    const committed = (await Promise.all(fates.map((fate, number) => job(number, fate)))).flat();
    await admission.drain();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const rows = watcher.prepare("SELECT label FROM jobs").all().map((row) => String(row["label"]));
    const byNumber = (labels: string[]) => labels.toSorted((a, b) => Number(a) - Number(b));
    assert.deepEqual(byNumber(rows), byNumber(committed), `seed ${SEED}`);
    assert.deepEqual([provider.connectionsOut, provider.admission.currentInUse], [0, 0], `seed ${SEED}`);
    assert.equal(peak, BOUND, `seed ${SEED}`);
    const reached = new Set(fates);
    assert.deepEqual(FATES.filter((fate) => !reached.has(fate)), [], `seed ${SEED}: fates that nobody had`);
    dispose();
  });
});
