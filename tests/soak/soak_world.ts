// A busy service on virtual time: bursts, 429s, circuit openings, heap swings, aborts, changed caps and resized gates.

import assert from "node:assert/strict";
import {
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  type Grant,
  MemoryPressureGate,
  TokenBucketRateLimiter,
  UpstreamFailure,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import type { Chance } from "../chance.ts";

/** One turn of the service, ms. */
const STEP_MS = 50;
const TOO_MANY: UpstreamFailure = new UpstreamFailure({ statusCode: 429, service: "upstream" });

interface Running {
  endsAtMs: number;
  grant: Grant;
}

/** What became of the jobs. */
export interface Outcomes {
  granted: number;
  failed: Map<string, number>;
}

export class SoakWorld {
  readonly clock: ManualClock = new ManualClock();
  readonly outcomes: Outcomes = { granted: 0, failed: new Map() };
  readonly #chance: Chance;
  readonly #gates: CountingGate[];
  readonly #mostPermits: number[];
  readonly #bucket: TokenBucketRateLimiter;
  readonly #window: ElasticWindowRateLimiter;
  readonly #memory: MemoryPressureGate;
  readonly #admissions: Admission[];
  readonly #running: Running[] = [];
  #heap = 0.5;
  #jobs = 0;
  #open = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    const { clock } = this;
    this.#gates = [new CountingGate("http", 40), new CountingGate("db", 12)];
    this.#mostPermits = this.#gates.map((gate) => gate.capacity);
    this.#bucket = new TokenBucketRateLimiter("model", { tpm: 6_000_000, rpm: 20_000, clock });
    this.#window = new ElasticWindowRateLimiter("search", {
      maxRequests: 60,
      baseWindowMs: 1_000,
      initialCooldownMs: 500,
      maxCooldownMs: 4_000,
      clock,
    });
    this.#memory = new MemoryPressureGate({ reader: () => this.#heap, clock });
    // Memory is the first admission's alone: a gate has one line.
    this.#admissions = [this.#memory, null].map((memory) =>
      new Admission({ memory, clock, maxQueue: 500 }).start()
    );
  }

  /** Runs until that many jobs were handed in, then until all are over. */
  async play(jobs: number): Promise<void> {
    while (this.#jobs < jobs) {
      this.#disturb();
      for (let i = this.#chance.below(this.#chance.below(10) === 0 ? 60 : 12); i > 0; i--) this.#handIn();
      await this.#turn();
    }
    this.#heap = 0.4;
    for (let i = 0; i < 200_000 && (this.#open > 0 || this.#running.length > 0); i++) await this.#turn();
    this.#checkEnd();
  }

  async #turn(): Promise<void> {
    await this.clock.advance(STEP_MS);
    const nowMs = this.clock.now();
    for (let i = this.#running.length - 1; i >= 0; i--) {
      const { endsAtMs, grant } = this.#running[i]!;
      if (endsAtMs > nowMs) continue;
      this.#running[i] = this.#running.at(-1)!;
      this.#running.pop();
      this.#end(grant);
    }
    this.#checkBounds();
  }

  #disturb(): void {
    const below = (limit: number) => this.#chance.below(limit);
    this.#swingHeap(below);
    if (below(40) === 0) this.#bucket.record429();
    if (below(2) === 0) this.#bucket.recordSuccess();
    if (below(500) === 0) { for (let i = 0; i < 12; i++) this.#window.onRateLimitError(TOO_MANY); }
    if (below(2) === 0) this.#window.onSuccess();
    if (below(200) === 0) {
      this.#bucket.setConfig({ tpm: 3_000_000 + below(6_000_000), rpm: 10_000 + below(20_000) });
    }
    if (below(200) === 0) {
      const index = below(this.#gates.length);
      const capacity = 4 + below(60);
      this.#gates[index]!.setCapacity(capacity);
      this.#mostPermits[index] = Math.max(this.#mostPermits[index]!, capacity);
    }
  }

  /** Wanders about, now and then fills up, and is collected some time later. */
  #swingHeap(below: (limit: number) => number): void {
    if (below(600) === 0) this.#heap = 0.97;
    else if (this.#heap > 0.9 && below(10) === 0) this.#heap = 0.4;
    else if (this.#heap < 0.95) {
      this.#heap = Math.min(0.92, Math.max(0.3, this.#heap + (below(21) - 10) / 1000));
    }
  }

  #handIn(): void {
    const below = (limit: number) => this.#chance.below(limit);
    const demand = new Demand();
    if (below(3) > 0) demand.add(this.#bucket, below(900));
    if (below(4) > 0) demand.add(this.#gates[0]!, 1 + below(2));
    if (below(2) === 0) demand.add(this.#gates[1]!);
    if (below(30) === 0) demand.add(this.#window);
    const controller = below(20) === 0 ? new AbortController() : null;
    const options = {
      ...(controller === null ? {} : { signal: controller.signal }),
      ...(below(10) === 0 ? { timeoutMs: below(5_000) } : {}),
    };
    this.#jobs++;
    this.#open++;
    this.#admissions[below(2)]!.admit(demand, options).then(
      (grant) => {
        this.#open--;
        this.outcomes.granted++;
        this.#running.push({ endsAtMs: this.clock.now() + below(120), grant });
      },
      (error) => {
        this.#open--;
        const what = String(error?.code ?? error?.message);
        this.outcomes.failed.set(what, (this.outcomes.failed.get(what) ?? 0) + 1);
      },
    );
    if (controller !== null) this.clock.setTimer(below(3_000), () => controller.abort(new Error("left")));
  }

  #end(grant: Grant): void {
    const kind = this.#chance.below(10);
    if (kind === 0) grant.rollback();
    else grant.release();
    grant.release();
  }

  #checkBounds(): void {
    for (const [index, gate] of this.#gates.entries()) {
      assert.ok(
        gate.currentInUse >= 0 && gate.currentInUse <= this.#mostPermits[index]!,
        `${gate.limiterName} in use`,
      );
    }
    const { availableTokens, maxTokens } = this.#bucket.status;
    assert.ok(availableTokens >= 0 && availableTokens <= maxTokens, "tokens");
    assert.ok(this.#bucket.throttle >= 0 && this.#bucket.throttle <= 9, "throttle of the bucket");
    assert.ok(this.#window.currentInUse >= 0 && this.#window.currentInUse <= this.#window.capacity, "stamps");
    assert.ok(this.#window.throttle >= 0 && this.#window.throttle <= 9, "throttle of the window");
  }

  #checkEnd(): void {
    assert.equal(this.#open, 0, "every job got an answer");
    for (const gate of this.#gates) {
      assert.equal(gate.currentInUse, 0, `${gate.limiterName} in use at the end`);
    }
    for (const admission of this.#admissions) assert.equal(admission.queueSize, 0);
  }
}
