// Many jobs on a real server through a bound, with everything going wrong that can: no connection above the bound, ever.

import assert from "node:assert/strict";
import { Admission, Demand, JobRequirements, JobRunner, type JobScope } from "../mod.ts";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { Chance } from "./chance.ts";
import type { DatabaseWorld, ServerSubject } from "./database_servers.ts";

const BOUND = 8;

/** How jobs end. */
export type Ending =
  | "committed"
  | "failed"
  | "aborted"
  | "killed"
  | "late"
  | "stuck"
  | "left the line"
  | "crashed"
  | "read";
/** One of these ends is chosen for a job; a crash of the server comes on top. */
const PLANS: readonly Ending[] = [
  "committed",
  "committed",
  "committed",
  "committed",
  "failed",
  "aborted",
  "killed",
  "late",
  "stuck",
  "left the line",
  "read",
];
/** Ends that are the job's own doing. */
const FAILING: readonly Ending[] = ["failed", "aborted", "killed", "late", "stuck"];
/** A late job is closed in order, because its statement ends in time; a stuck one by force, after the least grace of 500 ms. */
const TIME_LIMITS_MS: Partial<Record<Ending, number>> = { late: 30, stuck: 60 };
const SLEEPS_MS: Partial<Record<Ending, number>> = { aborted: 40, late: 60, stuck: 750 };
/** Where the server stops what it is told to. Elsewhere it has to end before the second grace, when the permit comes back. */
const LONG_SLEEP_MS = 30_000;
const NO_LIMIT_MS = 100_000;

/** How it went. */
export interface FanOutFacts {
  readonly seed: number;
  readonly endings: ReadonlyMap<Ending, number>;
  readonly mostOut: number;
  readonly mostSessions: number;
}

/** A fan-out over one subject. */
export class ServerFanOut<T> {
  readonly #subject: ServerSubject<T>;
  readonly #server: PrivateServer;
  readonly #chance: Chance;
  readonly #canCancel: boolean;
  readonly #monitor = new Admission({ memory: null }).start();
  readonly #runner = new JobRunner(this.#monitor);
  readonly #endings = new Map<Ending, number>();
  /** Jobs whose commit was acknowledged, and those whose commit failed, which may have happened. */
  readonly #committed = new Set<number>();
  readonly #unknown = new Set<number>();
  #mostOut = 0;
  #mostSessions = 0;
  #hasEnded = false;

  private constructor(
    subject: ServerSubject<T>,
    server: PrivateServer,
    { chance, canCancel }: { chance: Chance; canCancel: boolean },
  ) {
    this.#canCancel = canCancel;
    this.#subject = subject;
    this.#server = server;
    this.#chance = chance;
  }

  /** Plays so many jobs, with so many crashes of the server, and checks what must hold. */
  static async play<T>(
    world: DatabaseWorld<T>,
    server: PrivateServer,
    { jobs, crashes, seed }: { jobs: number; crashes: number; seed: number },
  ): Promise<FanOutFacts> {
    // As many as the bound: so the server sees at most the bound, however long it takes over the end of a session.
    const subject = await world.open(server, "orders", BOUND, { poolSize: BOUND });
    try {
      const fanOut = new ServerFanOut(subject, server, {
        chance: new Chance(seed),
        canCancel: world.canCancel,
      });
      await fanOut.#play(jobs, crashes);
      await fanOut.#check();
      return {
        seed,
        endings: fanOut.#endings,
        mostOut: fanOut.#mostOut,
        mostSessions: fanOut.#mostSessions,
      };
    } finally {
      await subject.dispose();
    }
  }

  async #play(jobs: number, crashes: number): Promise<void> {
    const watching = this.#watch();
    let done = 0;
    let crashing = Promise.resolve();
    const every = Math.ceil(jobs / (crashes + 1));
    await Promise.all(Array.from({ length: jobs }, async (_, id) => {
      const ending = await this.#run(id);
      this.#endings.set(ending, (this.#endings.get(ending) ?? 0) + 1);
      if (++done % every !== 0 || done === jobs) return;
      crashing = crashing.then(() => this.#server.crash()).then(() => this.#server.start());
    }));
    await crashing;
    this.#hasEnded = true;
    await watching;
  }

  /** Looks at the server, over a connection of its own, as often as it answers. */
  async #watch(): Promise<void> {
    while (!this.#hasEnded) {
      const sessions = await this.#subject.sessions().catch(() => 0);
      this.#mostSessions = Math.max(this.#mostSessions, sessions);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  async #run(id: number): Promise<Ending> {
    const plan = this.#chance.pick(PLANS);
    const leaving = new AbortController();
    const waits = plan === "left the line"
      ? setTimeout(() => leaving.abort(), this.#chance.below(200))
      : undefined;
    const requirements = new JobRequirements({ timeoutMs: TIME_LIMITS_MS[plan] ?? NO_LIMIT_MS })
      .database(this.#subject.provider, { readOnly: plan === "read", transaction: true });
    try {
      const signal = leaving.signal;
      const ending = await this.#runner.run(requirements, (scope) => this.#work(scope, id, plan), { signal });
      if (this.#unknown.delete(id)) this.#committed.add(id);
      return ending;
    } catch (fault) {
      if (fault === leaving.signal.reason) return "left the line";
      return FAILING.includes(plan) ? plan : "crashed";
    } finally {
      clearTimeout(waits);
    }
  }

  async #work(scope: JobScope, id: number, plan: Ending): Promise<Ending> {
    const { provider, table } = this.#subject;
    const handle = scope.resource(provider);
    const stack = handle.unwrap();
    this.#mostOut = Math.max(this.#mostOut, await this.#subject.activeConnections());
    if (plan === "read") {
      await this.#subject.run(stack, `select count(*) from ${table}`);
      return "read";
    }
    if (plan === "aborted") setTimeout(() => provider.abort(handle), this.#chance.below(30));
    await this.#subject.run(stack, `insert into ${table} (worth) values (${id})`);
    if (plan === "failed") throw new Error("the job failed");
    if (plan === "killed") await this.#subject.kill(await this.#subject.sessionOf(stack));
    await this.#subject.sleep(stack, this.#sleepMs(plan));
    await this.#subject.run(stack, `insert into ${table} (worth) values (${id})`);
    // A commit that fails may have happened.
    this.#unknown.add(id);
    return "committed";
  }

  #sleepMs(plan: Ending): number {
    if (plan === "stuck" && this.#canCancel) return LONG_SLEEP_MS;
    return SLEEPS_MS[plan] ?? this.#chance.below(10);
  }

  /** Nothing is in use, nothing is lost, and the table holds both rows of each job that committed, and nothing of any other. */
  async #check(): Promise<void> {
    const { provider } = this.#subject;
    assert.equal(provider.admission.currentInUse, 0, "permits in use");
    assert.equal(await this.#subject.activeConnections(), 0, "connections out");
    const rows = new Map<number, number>();
    // A connection that went down with the server fails once.
    const worths = await this.#subject.worths().catch(() => this.#subject.worths());
    for (const worth of worths) rows.set(worth, (rows.get(worth) ?? 0) + 1);
    for (const id of this.#committed) assert.equal(rows.get(id), 2, `rows of job ${id}, which committed`);
    for (const [id, count] of rows) {
      assert.ok(
        this.#committed.has(id) || this.#unknown.has(id),
        `job ${id} did not commit, but ${count} rows did`,
      );
      assert.equal(count, 2, `rows of job ${id}`);
    }
    using all = await this.#monitor.admit(new Demand().add(provider.admission, BOUND), { timeoutMs: 0 });
    assert.equal(all.isEmpty, false);
    const handles = await Promise.all(Array.from({ length: BOUND }, () => provider.acquire()));
    for (const handle of handles) await this.#subject.insertRow(handle.unwrap());
    for (const handle of handles) await provider.close(handle);
    this.#monitor.stop();
  }
}
