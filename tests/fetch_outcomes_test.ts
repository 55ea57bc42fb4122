// What accounts other than buckets and gates of models hear of each attempt.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import {
  AbstractRateLimiter,
  CountingGate,
  ElasticWindowRateLimiter,
  type LimiterStatus,
  type UpstreamFailure,
} from "../mod.ts";
import {
  chat,
  CHAT_URL,
  completion,
  errorOf,
  events,
  FetchWorld,
  follow,
  pieces,
  refusal,
} from "./fetch_world.ts";

/** An account that writes down what it hears, and how much of the HTTP gate is in use then. */
class Listener extends AbstractRateLimiter<string> {
  readonly limiterName = "listener";
  readonly limiterCategory = "listener";
  readonly capacity = 1;
  readonly currentInUse = 0;
  readonly heard: string[] = [];
  readonly status: LimiterStatus = { summary: () => "" } as unknown as LimiterStatus;

  constructor(private readonly world: FetchWorld) {
    super();
  }

  fits(): boolean {
    return true;
  }

  tryTake(): boolean {
    return true;
  }

  give(): void {}

  earliestFit(): null {
    return null;
  }

  override onSuccess(input?: string): void {
    this.heard.push(`success ${input} ${this.world.http.currentInUse}`);
  }

  override onRateLimitError(failure: UpstreamFailure, input?: string): void {
    this.heard.push(`${failure.statusCode} ${input} ${this.world.http.currentInUse}`);
  }
}

describe("Other accounts of the demand", () => {
  /** What an account beside the model's hears of the attempts of one call. */
  async function heard(
    answer: (index: number) => Response | Promise<Response>,
    use: (response: Response) => Promise<unknown> = (response) => response.text(),
    init: RequestInit = chat(),
  ): Promise<string[]> {
    const world = new FetchWorld();
    const listener = new Listener(world);
    const fetch = world.fetch((_, index) => answer(index), {
      demand: (demand) => demand.add(listener, "chat"),
      maxRetries: 2,
    });
    const outcome = follow(fetch(CHAT_URL, init));
    await world.clock.advance(100_000);
    if (outcome.value !== undefined) await use(outcome.value).catch(() => {});
    world.assertIdle();
    return listener.heard;
  }

  it("UF-23 and UF-24: hear of each attempt once, with its amount, while its permits are held", async () => {
    assert.deepEqual(await heard(() => completion()), ["success chat 1"]);
    assert.deepEqual(await heard((index) => index === 0 ? refusal(503) : completion()), [
      "503 chat 1",
      "success chat 1",
    ]);
    assert.deepEqual(await heard(() => refusal(429)), Array(3).fill("429 chat 1"));
    const unreached = Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
    assert.deepEqual(await heard(() => Promise.reject(unreached)), Array(3).fill("0 chat 1"));
  });

  it("hear of success from an answer that speaks of the request, and from one that its consumer left", async () => {
    assert.deepEqual(await heard(() => refusal(400)), ["success chat 1"]);
    assert.deepEqual(await heard(() => pieces(["a", "b"]).response, (response) => response.body!.cancel()), [
      "success chat 1",
    ]);
    assert.deepEqual(await heard(() => new Response(null, { status: 204 })), ["success chat 1"]);
    const controller = new AbortController();
    const abortAndCancel = async (response: Response) => {
      controller.abort();
      await response.body!.cancel();
    };
    const endedTwice = await heard(
      () => pieces(["a"]).response,
      abortAndCancel,
      chat({}, { signal: controller.signal }),
    );
    assert.deepEqual(endedTwice, ["success chat 1"], "once, although it ended twice");
  });

  it("hear of a stream that the service broke off or gave up, and nothing of what nobody can tell", async () => {
    const reset = Object.assign(new Error("gone"), { code: "ECONNRESET" });
    assert.deepEqual(await heard(() => pieces([events({ i: 1 })], undefined, reset).response), ["0 chat 1"]);
    assert.deepEqual(await heard(() => pieces([events({ i: 1 })], undefined, new Error("?")).response), []);
    const failed = { type: "response.failed", response: { error: { code: "server_error", message: "" } } };
    assert.deepEqual(await heard(() => pieces([events(failed)]).response), ["500 chat 1"]);
    assert.deepEqual(await heard(() => pieces([events({ error: { type: "?" } })]).response), []);
    const gated = new FetchWorld();
    const listener = new Listener(gated);
    const own = gated.fetch(() => pieces([events(failed)]).response, {
      models: [{ id: "gpt", maxConcurrent: 1 }],
      demand: (demand) => demand.add(listener, "gated"),
    });
    await (await own(CHAT_URL, chat())).text();
    assert.deepEqual(listener.heard, ["500 gated 1"], "also of a model that has no bucket");
    const quota = { code: "insufficient_quota" };
    assert.deepEqual(await heard(() => refusal(429, {}, quota)), ["success chat 1"], "it did answer");
  });

  it("hear of a request that ran into its own limit as a failure, and nothing of one that was aborted on purpose", async () => {
    const hang = (controller: AbortController, reason: unknown) => () => {
      queueMicrotask(() => controller.abort(reason));
      return new Promise<Response>((_, reject) =>
        controller.signal.addEventListener("abort", () => reject(controller.signal.reason))
      );
    };
    for (
      const [reason, expected] of [
        [new DOMException("late", "TimeoutError"), ["0 chat 1"]],
        [undefined, []],
        [new Error("mine"), []],
      ] as const
    ) {
      const controller = new AbortController();
      assert.deepEqual(
        await heard(hang(controller, reason), undefined, chat({}, { signal: controller.signal })),
        expected,
      );
    }
  });

  /** A window's state after 24 calls at once with 700 ms each, of a service that four may ask at a time. */
  async function afterRush(answerMs: number): Promise<{ state: string; timedOut: number; heard: string[] }> {
    const world = new FetchWorld();
    const { clock } = world;
    const window = new ElasticWindowRateLimiter("upstream", {
      maxRequests: 100,
      baseWindowMs: 1000,
      clock,
    });
    const listener = new Listener(world);
    const fetch = world.fetch((_, __, { signal }) =>
      new Promise((resolve, reject) => {
        const timer = clock.setTimer(answerMs, () => resolve(completion()));
        signal.addEventListener("abort", () => (timer.cancel(), reject(signal.reason)));
      }), {
      http: new CountingGate("places", 4),
      demand: (demand) => demand.add(window).add(listener, "chat"),
    });
    const calls = Array.from({ length: 24 }, () => {
      const controller = new AbortController();
      clock.setTimer(700, () => controller.abort(new DOMException("late", "TimeoutError")));
      const text = fetch(CHAT_URL, chat({}, { signal: controller.signal })).then((answer) => answer.text());
      return follow(text);
    });
    for (let i = 0; i < 1000; i += 50) await clock.advance(50);
    const timedOut = calls.filter(({ error }) => (error as Error)?.name === "TimeoutError").length;
    return { state: window.circuitState, timedOut, heard: listener.heard };
  }

  it("hear nothing of a time limit of which more went on the line than on the request", async () => {
    const { state, timedOut, heard } = await afterRush(200);
    assert.deepEqual([state, timedOut], ["HEALTHY", 12]);
    assert.deepEqual(heard, Array(12).fill("success chat 0"));
    const hanging = await afterRush(10_000);
    assert.equal(hanging.timedOut, 24);
    assert.deepEqual(hanging.heard, Array(4).fill("0 chat 0"), "of those that were sent at once");
  });

  it("hear of a time limit from a request that was out as long as its call had waited, or longer", async () => {
    for (
      const [isBody, outMs, expected] of [[false, 999, 0], [false, 1000, 1], [true, 999, 0], [
        true,
        1000,
        1,
      ]] as const
    ) {
      const world = new FetchWorld();
      const listener = new Listener(world);
      const controller = new AbortController();
      const fetch = world.fetch((_, index, { signal }) => {
        if (index === 0) return refusal(503);
        const hung = (end: (reason: unknown) => void) =>
          signal.addEventListener("abort", () => end(signal.reason));
        return isBody
          ? new Response(new ReadableStream({ start: (stream) => hung((reason) => stream.error(reason)) }))
          : new Promise((_, reject) => hung(reject));
      }, { demand: (demand) => demand.add(listener, "chat"), pauseMs: () => 1000 });
      const text = follow(
        fetch(CHAT_URL, chat({}, { signal: controller.signal })).then((answer) => answer.text()),
      );
      await world.settle();
      await world.clock.advance(1000); // The pause before the retry.
      await world.clock.advance(outMs);
      controller.abort(new DOMException("late", "TimeoutError"));
      await world.settle();
      assert.equal((text.error as Error).name, "TimeoutError");
      assert.deepEqual(
        listener.heard,
        ["503 chat 1", ...Array(expected).fill("0 chat 1")],
        `${isBody} ${outMs}`,
      );
      world.assertIdle();
    }
  });

  it("UF-25 one that throws or rejects is logged, and the others still hear", async () => {
    const world = new FetchWorld();
    const [loud, late, listener] = [new Listener(world), new Listener(world), new Listener(world)];
    loud.onSuccess = () => {
      throw new Error("too loud");
    };
    late.onSuccess = () => Promise.reject(new Error("too late")) as unknown as void;
    const fetch = world.fetch(() => completion(), {
      demand: (demand) => demand.add(loud, "a").add(late, "b").add(listener, "c"),
    });
    await (await fetch(CHAT_URL, chat())).text();
    await world.settle();
    assert.deepEqual(listener.heard, ["success c 1"]);
    assert.match(
      world.logs.join("\n"),
      /error Cannot tell listener of an outcome: too loud\nerror .*too late/,
    );
  });

  it("an elastic window stretches with failures, opens its circuit, and lets one probe decide", async () => {
    const world = new FetchWorld();
    const window = new ElasticWindowRateLimiter("upstream", {
      maxRequests: 100,
      baseWindowMs: 1000,
      maxThrottle: 2,
      failuresAtMaxToBlock: 1,
      initialCooldownMs: 5000,
      clock: world.clock,
    });
    let isDown = true;
    const fetch = world.fetch(() => isDown ? refusal(500) : completion(), {
      maxRetries: 0,
      demand: (demand) => demand.add(window),
    });
    for (let i = 0; i < 10 && window.circuitState === "HEALTHY"; i++) {
      await (await fetch(CHAT_URL, chat())).text();
    }
    assert.equal(window.circuitState, "BLOCKED");
    assert.equal((await errorOf(fetch(CHAT_URL, chat())) as { code: string }).code, "circuit_blocked");
    await world.clock.advance(5000);
    isDown = false;
    const probe = await fetch(CHAT_URL, chat());
    assert.equal(window.circuitState, "PROBING");
    await probe.text();
    assert.equal(window.circuitState, "HEALTHY");
    world.assertIdle();
  });
});
