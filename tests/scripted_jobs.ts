// Jobs for scenarios: a runner with its accounts, and databases whose verbs do what a test says and tell what they were asked.

import assert from "node:assert/strict";
import {
  type Admission,
  type AdmissionOptions,
  DatabaseGate,
  type DBManagedResource,
  type DBResourceProvider,
  HttpConnectionGate,
  JobRunner,
  type JobRunnerOptions,
  RateLimiterFactory,
  RateLimiterRegistry,
  type RetryKind,
  RetrySignal,
  UpstreamFailure,
} from "../mod.ts";
import { Slots } from "./custom_accounts.ts";
import type { World } from "./scenario.ts";

/** The verbs of a provider. */
export type Verb = "acquire" | "begin" | "commit" | "awaitCompletion" | "rollback" | "close" | "abort";

/** What a verb does beside telling: it may throw, or answer what is waited for. */
export type Script = () => void | Promise<void>;

/** A database whose handles are their numbers. */
export class ScriptedDatabase implements DBResourceProvider<number> {
  readonly name: string;
  readonly admission: DatabaseGate;
  /** What each verb does; it succeeds at once when nothing is said. */
  script: Partial<Record<Verb, Script>> = {};
  /** Whether an abort ends a close that hangs. */
  cutsCloses = true;
  readonly closes: Map<DBManagedResource<number>, number> = new Map();
  readonly #log: string[];
  readonly #out = new Set<DBManagedResource<number>>();
  readonly #cuts = new Map<DBManagedResource<number>, () => void>();
  readonly #aborted = new Set<DBManagedResource<number>>();
  #made = 0;

  constructor(name: string, bound: number, log: string[]) {
    this.name = name;
    this.admission = new DatabaseGate(name, bound);
    this.#log = log;
  }

  /** Handles that were acquired and not handed back. */
  get out(): number {
    return this.#out.size;
  }

  async acquire(readOnly = false): Promise<DBManagedResource<number>> {
    await this.#play("acquire", readOnly ? " read-only" : "");
    const number = ++this.#made;
    const handle = { provider: this, unwrap: () => number };
    this.#out.add(handle);
    return handle;
  }

  begin(): Promise<void> {
    return this.#play("begin");
  }

  commit(): Promise<void> {
    return this.#play("commit");
  }

  awaitCompletion(): Promise<void> {
    return this.#play("awaitCompletion");
  }

  rollback(): Promise<void> {
    return this.#play("rollback");
  }

  /** Hands back what it was given also when it fails, as the contract asks. */
  async close(handle: DBManagedResource<number>): Promise<void> {
    this.closes.set(handle, (this.closes.get(handle) ?? 0) + 1);
    if (this.#cuts.has(handle) || !this.#out.has(handle)) {
      return void this.#log.push(`${this.name} close again`);
    }
    const cut = new Promise<void>((_, reject) => this.#cuts.set(handle, () => reject(new Error("cut"))));
    try {
      if (this.#aborted.has(handle)) this.#log.push(`${this.name} close aborted`);
      else await Promise.race([this.#play("close"), cut]);
    } finally {
      this.#out.delete(handle);
    }
  }

  abort(handle: DBManagedResource<number>): void {
    this.#log.push(`${this.name} abort`);
    this.script.abort?.();
    if (!this.cutsCloses) return;
    this.#aborted.add(handle);
    this.#cuts.get(handle)?.();
  }

  async #play(verb: Verb, detail = ""): Promise<void> {
    this.#log.push(`${this.name} ${verb}${detail}`);
    await this.script[verb]?.();
  }
}

/** An account that writes down what it takes, hears and gives. */
export class Listener extends Slots {
  readonly #log: string[];
  /** When set, hearing of anything throws. */
  isDeaf = false;
  needsHttp = false;

  constructor(name: string, log: string[], capacity = 5) {
    super(name, capacity, (line) => log.push(line));
    this.#log = log;
  }

  override get requiresHttpConnection(): boolean {
    return this.needsHttp;
  }

  override onSuccess(input?: unknown): void {
    this.#hear(`success ${String(input)}`);
  }

  override onRateLimitError(failure: UpstreamFailure, input?: unknown): void {
    this.#hear(`failure ${failure.statusCode} ${failure.retryAfterSeconds} ${String(input)}`);
  }

  #hear(what: string): void {
    this.#log.push(`${this.limiterName} hears ${what}`);
    if (this.isDeaf) throw new Error(`${this.limiterName} is deaf`);
  }
}

/** A runner with accounts of its own in a scenario's world. */
export class JobWorld {
  /** What happened, in order. */
  readonly log: string[] = [];
  readonly registry: RateLimiterRegistry;
  readonly http: HttpConnectionGate = new HttpConnectionGate(2);
  readonly admission: Admission;
  readonly runner: JobRunner;

  constructor(world: World, options: JobRunnerOptions = {}, admissionOptions: AdmissionOptions = {}) {
    const { clock } = world;
    const log = (level: string) => (message: string) => void world.logs.push(`${level} ${message}`);
    const logger = { info: log("info"), warn: log("warn"), error: log("error") };
    this.registry = new RateLimiterRegistry(new RateLimiterFactory({ clock }));
    this.admission = world.admission(admissionOptions);
    const { registry, http } = this;
    this.runner = new JobRunner(this.admission, {
      accounts: registry,
      http,
      logger,
      random: () => 0,
      ...options,
    });
  }

  database(name: string, bound = 1): ScriptedDatabase {
    return new ScriptedDatabase(name, bound, this.log);
  }

  listener(name: string): Listener {
    return new Listener(name, this.log);
  }
}

/** What became of a promise, so far. */
export interface Outcome {
  readonly isDone: boolean;
  readonly result: unknown;
  readonly error: unknown;
}

/** Follows a promise without waiting for it. */
export function outcomeOf(promise: Promise<unknown>): Outcome {
  const outcome = { isDone: false, result: undefined as unknown, error: undefined as unknown };
  promise.then(
    (result) => Object.assign(outcome, { isDone: true, result }),
    (error) => Object.assign(outcome, { isDone: true, error }),
  );
  return outcome;
}

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  assert.fail("it should reject");
}

/** A signal to run again. */
export function signalOf(kind: RetryKind, retryAfterSeconds = 0): RetrySignal {
  return new RetrySignal(kind, new UpstreamFailure({ statusCode: 429, detail: "later", retryAfterSeconds }));
}

/** A script that fails. */
export function fails(message: string): Script {
  return () => {
    throw new Error(message);
  };
}

/** A script that never ends. */
export function hangs(): Promise<void> {
  return new Promise(() => {});
}

/** What was attached to an error. */
export function suppressedBy(error: unknown): string[] {
  const { suppressed = [] } = error as { suppressed?: readonly Error[] };
  return suppressed.map(({ message }) => message);
}
