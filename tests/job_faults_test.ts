// Every step of a job throws, hangs, answers late, or is where the job is aborted or cancelled: in turn, on every path through
// the job. Whatever happens, nothing stays held, each handle is closed once, and the next job runs.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  CancellationError,
  createJobContext,
  JobRequirements,
  JobTimeoutError,
  ModelBinding,
  SpendGates,
} from "../mod.ts";
import { scenario, type World } from "./scenario.ts";
import {
  JobWorld,
  type Outcome,
  outcomeOf,
  type ScriptedDatabase,
  signalOf,
  type Verb,
} from "./scripted_jobs.ts";

const VERBS: readonly Verb[] = ["acquire", "begin", "commit", "awaitCompletion", "rollback", "close"];
const STEPS: readonly string[] = [
  "resolve",
  "spend",
  "take",
  ...["a", "b"].flatMap((name) => VERBS.map((verb) => `${name} ${verb}`)),
  "work",
  "hear",
  "give",
];
const MODES = ["throw", "hang", "late", "abort", "cancel"] as const;
const PATHS = ["succeed", "fail", "retry"] as const;
type Mode = (typeof MODES)[number];
type Path = (typeof PATHS)[number];
/** What comes before the grant: no time limit bounds it. */
const BEFORE = ["resolve", "spend", "take"];
/** Accounts answer at once: they cannot hang. */
const SYNCHRONOUS = ["take", "hear", "give"];
const TIMEOUT_MS = 1000;
const LONG_MS = 100_000;

/** One job that goes wrong at one step, and what is told of it. */
class Trial {
  readonly jobs: JobWorld;
  readonly leaving: AbortController = new AbortController();
  readonly context = createJobContext({ id: "j" });
  readonly databases: readonly ScriptedDatabase[];
  readonly meter;
  readonly limiter;
  readonly reason = { it: "left" };
  works = 0;
  /** How often the spend gate was asked. */
  checks = 0;
  hits = 0;
  ends = 0;
  readonly #world: World;
  readonly #step: string;
  readonly #mode: Mode;

  constructor(world: World, step: string, mode: Mode) {
    this.#world = world;
    this.#step = step;
    this.#mode = mode;
    const spendGates = new SpendGates().register({
      check: () => {
        this.checks++;
        return this.at("spend");
      },
      onFinished: () => void this.ends++,
    });
    const model = { id: "m", tpm: 9_000, maxContextTokens: 9_000, maxOutputTokens: 9_000 };
    this.jobs = new JobWorld(world, {
      spendGates,
      resolveModel: async () => {
        await this.at("resolve");
        return model;
      },
    });
    this.databases = ["a", "b"].map((name) => this.jobs.database(name));
    for (const database of this.databases) {
      for (const verb of VERBS) database.script[verb] = () => this.at(`${database.name} ${verb}`);
    }
    this.meter = this.jobs.listener("meter");
    this.meter.kind = "TIME";
    this.limiter = this.jobs.listener("limiter");
    this.#scriptLimiter();
  }

  /** What the step does, the first time. */
  at(step: string): void | Promise<void> {
    if (step !== this.#step || this.hits++ > 0) return;
    if (this.#mode === "throw") throw new Error(`fault at ${step}`);
    if (this.#mode === "abort") this.leaving.abort(this.reason);
    if (this.#mode === "cancel") this.context.cancel();
    if (SYNCHRONOUS.includes(step)) return;
    if (this.#mode === "hang") return new Promise(() => {});
    if (this.#mode === "late") {
      return new Promise((resolve) => void this.#world.clock.setTimer(LONG_MS / 2, resolve));
    }
  }

  run(path: Path): Outcome {
    const binding = new ModelBinding({ grade: "any", depth: "IMMEDIATE", input: 1, output: 1 });
    const requirements = new JobRequirements({ timeoutMs: TIMEOUT_MS }).model(binding).limiter(this.limiter)
      .limiter(this.meter);
    for (const database of this.databases) requirements.database(database, { transaction: true });
    const { signal } = this.leaving;
    return outcomeOf(this.jobs.runner.run(requirements, async ({ attempt }) => {
      this.works++;
      await this.at("work");
      if (path === "fail") throw new Error("the work failed");
      if (path === "retry" && attempt === 1) throw signalOf("TRANSIENT");
      return "done";
    }, { signal, context: this.context }));
  }

  #scriptLimiter(): void {
    const { limiter } = this;
    const take = limiter.tryTake.bind(limiter);
    limiter.tryTake = (mine, ahead) => {
      this.at("take");
      return take(mine, ahead);
    };
    limiter.onSuccess = () => void this.at("hear");
    limiter.afterGive = () => void this.at("give");
  }
}

/** Every way in which one handle may be used, from its acquisition to its end. */
const COURSE =
  /^acquire( begin( commit( awaitCompletion)?)?( rollback)?)?( close)?( abort( close (again|aborted))?)?$/;

/** The verbs that one database was asked, attempt by attempt. */
function courses(log: readonly string[], name: string): string[] {
  const verbs = log.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  return verbs.join(" ").split(/ (?=acquire)/).filter((course) => course !== "");
}

function assertNothingLost(trial: Trial): void {
  const { jobs, databases, meter, limiter } = trial;
  assert.deepEqual([jobs.admission.queueSize, jobs.http.currentInUse, limiter.currentInUse], [0, 0, 0]);
  for (const { name, admission, out, closes } of databases) {
    assert.deepEqual([admission.currentInUse, out], [0, 0], name);
    for (const times of closes.values()) {
      assert.ok(times === 1 || (times === 2 && jobs.log.includes(`${name} abort`)));
    }
    for (const course of courses(jobs.log, name)) assert.match(course, COURSE);
  }
  assert.equal(
    meter.currentInUse,
    trial.works,
    "metered amounts stay spent where the work began, and only there",
  );
  assert.equal(trial.ends, 1, "spend gates are told of the end once");
}

/** What the job should have come to. */
function assertOutcome(
  trial: Trial,
  job: Outcome,
  { step, mode, path }: { step: string; mode: Mode; path: Path },
): void {
  const { error } = job;
  if (trial.hits === 0) return;
  if (mode === "hang" || mode === "late") {
    if (SYNCHRONOUS.includes(step)) return;
    if (!BEFORE.includes(step)) return assert.ok(error instanceof JobTimeoutError);
    if (mode === "hang") assert.equal(error, trial.reason, "only its caller could end it");
  } else if (mode === "throw") {
    const isSpared = step === "hear" || (path === "retry" && /rollback|close|give/.test(step));
    if (isSpared) return;
    const { message, suppressed = [] } = error as Error & { suppressed?: Error[] };
    assert.match([message, ...suppressed.map((each) => each.message)].join(), new RegExp(`fault at ${step}`));
  } else if (BEFORE.includes(step) || /acquire|begin/.test(step)) {
    assert.ok(mode === "abort" ? error === trial.reason : error instanceof CancellationError);
    assert.equal(trial.works, 0, "the work ran");
    assert.equal(trial.checks, step === "resolve" ? 0 : 1);
    const opened = trial.jobs.log.filter((line) => /acquire|begin/.test(line)).at(-1);
    assert.equal(opened, BEFORE.includes(step) ? undefined : step, "no step of the kind follows");
  } else if (trial.works === 0 || (path === "retry" && trial.works === 1 && job.result === undefined)) {
    assert.ok(mode === "abort" ? error === trial.reason : error instanceof CancellationError);
  } else if (path === "fail") {
    assert.match((error as Error).message, /the work failed/);
  } else assert.equal(job.result, "done");
}

async function play(world: World, at: { step: string; mode: Mode; path: Path }): Promise<boolean> {
  const trial = new Trial(world, at.step, at.mode);
  const job = trial.run(at.path);
  await world.clock.advance(LONG_MS);
  if (!job.isDone) trial.leaving.abort(trial.reason);
  await world.settle();
  assert.equal(job.isDone, true, "the job never ends");
  assertOutcome(trial, job, at);
  assertNothingLost(trial);
  assert.equal(world.clock.pendingTimers, 0, "a timer is left armed");
  const wasHit = trial.hits > 0;
  trial.hits = 1;
  const next = trial.jobs.runner.run(
    new JobRequirements({ timeoutMs: 1 }).database(trial.databases[0]!).http(),
    () => "next",
  );
  assert.equal(await next, "next");
  return wasHit;
}

describe("A fault at any step of a job", () => {
  for (const mode of MODES) {
    it(
      `BLD-10 DB-33 ${mode}: nothing is lost, held twice or closed twice, whatever the path`,
      scenario(async (world) => {
        const hits = new Set<string>();
        for (const path of PATHS) {
          for (const step of STEPS) {
            const where = `${mode} at ${step}, where the work is to ${path}`;
            try {
              if (await play(world, { step, mode, path })) hits.add(step);
            } catch (error) {
              throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
            }
          }
        }
        assert.deepEqual(STEPS.filter((step) => !hits.has(step)), [], "steps that no path reached");
      }),
    );
  }
});
