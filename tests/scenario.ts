// Scenarios: a test opens accounts, plays verbs and tells what it saw. Each runs on the WASM kernel and on the reference
// twin, and both must tell the same story, events included.

import assert from "node:assert/strict";
import {
  Admission,
  type AdmissionOptions,
  CountingGate,
  type ElasticWindowOptions,
  ElasticWindowRateLimiter,
  type Grant,
  type LimiterEvent,
  type TokenBucketCaps,
  TokenBucketRateLimiter,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";
import { KernelHost, useHost } from "../core/host.ts";
import { type Kernel, wasmKernel } from "../core/kernel.ts";
import { twinKernel } from "./reference/twin.ts";

/** The two kernels that every scenario runs on. */
export const KERNELS: Readonly<Record<"wasm" | "twin", () => Kernel>> = {
  wasm: wasmKernel,
  twin: twinKernel,
};

/** What a parked or settled `admit` came to, so far. */
export interface Call {
  grant: Grant | null;
  error: unknown;
  /** The clock when it settled, ms. */
  settledAtMs: number | null;
}

/** Where a scenario happens: one clock, one log of events. */
export class World {
  readonly clock: ManualClock = new ManualClock(1000, 1_700_000_000_000);
  readonly events: LimiterEvent[] = [];
  /** What happened, in order: events, and what the scenario tells. Compared between the kernels. */
  readonly story: string[] = [];
  readonly logs: string[] = [];

  /** A started Admission without memory whose events land in the story. */
  admission(options: AdmissionOptions = {}): Admission {
    return this.unstarted(options).start();
  }

  unstarted(options: AdmissionOptions = {}): Admission {
    const log = (level: string) => (message: string) => void this.logs.push(`${level} ${message}`);
    const logger = { info: log("info"), warn: log("warn"), error: log("error") };
    return new Admission({ memory: null, clock: this.clock, events: this.#record, logger, ...options });
  }

  gate(name: string, capacity: number): CountingGate {
    return new CountingGate(name, capacity);
  }

  bucket(name: string, caps: TokenBucketCaps): TokenBucketRateLimiter {
    return new TokenBucketRateLimiter(name, { ...caps, clock: this.clock });
  }

  window(name: string, options: ElasticWindowOptions): ElasticWindowRateLimiter {
    return new ElasticWindowRateLimiter(name, { clock: this.clock, ...options });
  }

  /** Follows an `admit` without waiting for it. */
  follow(promise: Promise<Grant>): Call {
    const call: Call = { grant: null, error: null, settledAtMs: null };
    promise.then(
      (grant) => Object.assign(call, { grant, settledAtMs: this.clock.now() }),
      (error) => Object.assign(call, { error, settledAtMs: this.clock.now() }),
    );
    return call;
  }

  /** Lets everything that is due happen. */
  async settle(): Promise<void> {
    await this.clock.advance(0);
  }

  tell(line: string): void {
    this.story.push(line);
  }

  /** Events as short lines: `http HELD`, in order. */
  get transitions(): string[] {
    return this.events.map((event) => `${event.limiterName} ${event.type}`);
  }

  /** Events of one type on one account. */
  count(type: LimiterEvent["type"], name: string): number {
    return this.events.filter((event) => event.type === type && event.limiterName === name).length;
  }

  readonly #record = (event: LimiterEvent): void => {
    this.events.push(event);
    const { limiterName, type, waiters, inUse, capacity, waitMs, rejectReason, statusIndicator, amount } =
      event;
    const facts = [
      limiterName,
      type,
      waiters,
      `${inUse}/${capacity}`,
      waitMs,
      rejectReason,
      statusIndicator,
      amount,
    ];
    this.story.push(`${this.clock.now()} ${facts.join(" ")}`);
  };
}

/** The body of a test: plays the scenario on both kernels and compares what they told. */
export function scenario(play: (world: World) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const stories: Record<string, string[]> = {};
    for (const [name, kernel] of Object.entries(KERNELS)) stories[name] = await playOn(kernel(), play);
    assert.deepEqual(stories.wasm, stories.twin, "the kernel and its twin tell different stories");
  };
}

/** Plays one scenario on one kernel; answers its story. */
export async function playOn(
  kernel: Kernel,
  play: (world: World) => void | Promise<void>,
): Promise<string[]> {
  const host = new KernelHost(kernel);
  useHost(host);
  try {
    const world = new World();
    await play(world);
    await world.settle();
    assert.equal(host.defect, null, "the kernel trapped");
    return world.story;
  } finally {
    useHost(null);
  }
}
