// Headers and bodies come from others: whatever is in them, reading them never throws and never makes up a number.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import {
  type FailedAnswer,
  headerReader,
  type HeaderSource,
  type ProviderKey,
  RateLimitInfo,
  readRetryAfterMs,
} from "../mod.ts";
import { ManualClock } from "../testing/mod.ts";

const PROVIDERS: readonly ProviderKey[] = [
  "openai",
  "openai-compatible",
  "azure",
  "azure-embeddings",
  "anthropic",
  "bedrock",
  "bedrock-anthropic",
  "gemini",
  "system-one",
];
const NAMES = [
  "retry-after",
  "retry-after-ms",
  "x-request-id",
  ...["limit", "remaining", "reset"].flatMap((what) => [
    `x-ratelimit-${what}-tokens`,
    `x-ratelimit-${what}-requests`,
    `anthropic-ratelimit-tokens-${what}`,
    `anthropic-ratelimit-requests-${what}`,
    `anthropic-ratelimit-input-tokens-${what}`,
  ]),
];
const clock = new ManualClock(0, Date.UTC(2026, 0, 1));

/** Reads with every reader in every way; answers the infos. */
function readAll(headers: unknown, rest: Omit<FailedAnswer, "headers"> = {}): RateLimitInfo[] {
  const source = headers as HeaderSource;
  assertWait(readRetryAfterMs(source, { clock }));
  const infos = PROVIDERS.flatMap((provider) => {
    const reader = headerReader(provider, { clock });
    for (const value of Object.values(reader.logFields(source))) {
      if (typeof value === "string") assert.match(value, /^[\x21-\x7e]{1,256}$/);
      else assertWait(value);
    }
    const failed = [0, 429, 500].map((status) => reader.onError("gpt", { ...rest, status, headers: source }));
    return [reader.onSuccess("gpt", source), ...failed];
  });
  return infos.filter((info) => info !== null);
}

function assertWait(value: unknown): void {
  assert.ok(value === null || (Number.isFinite(value) && (value as number) >= 0), `${value}`);
}

/** Fails when any number was read. */
function assertAbsent(infos: readonly RateLimitInfo[]): void {
  for (const info of infos) {
    const { tokensLimit, tokensRemaining, tokensResetMs, requestsLimit, requestsRemaining, retryAfterMs } =
      info;
    const read = [
      tokensLimit,
      tokensRemaining,
      tokensResetMs,
      requestsLimit,
      requestsRemaining,
      retryAfterMs,
    ];
    assert.deepEqual(read, [null, null, null, null, null, null]);
  }
}

function everyName(value: unknown): Record<string, unknown> {
  return Object.fromEntries(NAMES.map((name) => [name, value]));
}

function thrower(): never {
  throw new Error("from a header");
}

describe("Hostile headers", () => {
  it("BEY-70 junk reads as absent, never as zero, in every header of every provider", () => {
    const megabyte = "9".repeat(1_000_000);
    const junk = [
      "",
      " ",
      "NaN",
      "Infinity",
      "-Infinity",
      "1e400",
      "-1",
      "-0.5",
      "٧",
      "７",
      "0x7",
      "7;8",
      "7\0",
      "null",
    ];
    const longer = [
      megabyte,
      `7${" ".repeat(1000)}x`,
      ` ${"1m".repeat(200)}`,
      "1h".repeat(100_000),
      "Sun, ".repeat(9000),
    ];
    for (const value of [...junk, ...longer]) assertAbsent(readAll(everyName(value)));
    for (
      const value of [7, 0, null, undefined, true, {}, [], [7], [[]], Symbol("7"), 7n, () => "7", new Date()]
    ) {
      assertAbsent(readAll(everyName(value)));
      assertAbsent(readAll({ get: () => value }));
    }
    assert.ok(
      readAll(everyName("7")).some((info) => info.retryAfterMs === 7),
      "they would have been read",
    );
  });

  it("BEY-70 a header that is repeated to 10 kB and more reads as its first value", () => {
    const repeated = everyName("7, ".repeat(5000));
    assert.deepEqual(readAll(repeated), readAll(everyName("7")));
  });

  it("BEY-70 sources and getters that throw read as absent", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const sources: unknown[] = [
      null,
      undefined,
      7,
      "retry-after: 7",
      Symbol("headers"),
      proxy,
      { get: thrower },
      { get: "retry-after" },
      { get: () => Promise.resolve("7") },
      Object.defineProperty({}, "get", { get: thrower }),
      new Proxy({}, { ownKeys: thrower }),
      new Proxy(everyName("7"), { get: thrower }),
      Object.defineProperties(
        {},
        Object.fromEntries(NAMES.map((name) => [name, { get: thrower, enumerable: true }])),
      ),
      everyName(new Proxy([], { get: thrower })),
      Object.create(everyName("7")),
    ];
    for (const source of sources) assertAbsent(readAll(source));
  });

  it("BEY-70 one header that throws takes only itself away, and __proto__ is a name like any other", () => {
    const headers = Object.defineProperty({ "Retry-After": "7" }, "retry-after-ms", {
      get: thrower,
      enumerable: true,
    });
    assert.equal(readRetryAfterMs(headers), 7000);
    const parsed = JSON.parse('{"__proto__": {"retry-after": "9"}, "constructor": "8", "retry-after": "7"}');
    assert.equal(readRetryAfterMs(parsed), 7000);
    assertAbsent(readAll(JSON.parse('{"__proto__": {"retry-after": "9"}}')));
    assert.equal(({} as Record<string, unknown>)["retry-after"], undefined);
  });

  it("BEY-70 of a record the first thousand names are looked at", () => {
    const filler = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, "7"]));
    assert.equal(readRetryAfterMs({ ...filler(999), "retry-after": "7" }), 7000);
    assert.equal(readRetryAfterMs({ ...filler(1000), "retry-after": "7" }), null);
  });

  it("BEY-70 hostile bodies, messages and answers read as absent", () => {
    const hostile = new Proxy({}, { get: thrower });
    const deep = '{"error":'.repeat(5000);
    const listed = (details: unknown) => ({ error: { message: "slow down", details } });
    const retry = { "@type": "google.rpc.RetryInfo", retryDelay: "13s" };
    const bodies: unknown[] = [
      hostile,
      listed(hostile),
      listed([hostile]),
      listed([{
        "@type": "google.rpc.RetryInfo",
        get retryDelay() {
          return thrower();
        },
      }]),
      listed([{ "@type": "google.rpc.RetryInfo", retryDelay: "9".repeat(1_000_000) }]),
      listed([{ "@type": "google.rpc.QuotaFailure", violations: [hostile] }]),
      listed([...new Array(64).fill({}), retry]),
      deep,
      JSON.stringify({ ...listed([retry]), padding: "x".repeat(70_000) }),
    ];
    for (const body of bodies) assertAbsent(readAll({}, { body, message: hostile as unknown as string }));
    for (const answer of [null, undefined, hostile, 7]) {
      for (const provider of PROVIDERS) {
        const info = headerReader(provider, { clock }).onError("gpt", answer as FailedAnswer);
        assertAbsent(info === null ? [] : [info]);
      }
    }
  });

  it("refuses a model's id that is none: that is the caller's own", () => {
    for (const id of ["", null, 7]) {
      const reader = headerReader("openai");
      assert.throws(() => reader.onSuccess(id as string, {}), { name: "TypeError", message: /modelId is/ });
      assert.throws(() => reader.onError(id as string, {}), { name: "TypeError", message: /modelId is/ });
    }
  });
});

describe("Headers at random", () => {
  const piece = fc.constantFrom(
    "1",
    "7",
    "0",
    "9999999999",
    ".",
    "-",
    ":",
    "s",
    "m",
    "h",
    "ms",
    ",",
    " ",
    "GMT",
    "Nov",
    "T",
    "Z",
    "+",
  );
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
    fc.double().map(String),
    fc.bigInt().map(String),
    fc.date().map(String),
  );

  it("BEY-70 no text throws or reads as less than nothing", () => {
    const name = fc.oneof(fc.constantFrom(...NAMES), fc.string());
    const headers = fc.dictionary(name, fc.oneof(value, fc.array(value)), { maxKeys: 12 });
    fc.assert(fc.property(headers, value, (record, message) => {
      for (const info of readAll(record, { message })) assert.ok(info instanceof RateLimitInfo);
    }));
  });

  it("BEY-70 no value whatever throws, as headers, as a header or as a body", () => {
    fc.assert(fc.property(fc.anything({ withNullPrototype: true, withBigInt: true }), (anything) => {
      readAll(anything, { body: anything });
      readAll(everyName(anything), { body: { error: { details: [anything] } } });
      const detail = { "@type": "google.rpc.RetryInfo", retryDelay: anything };
      readAll({ get: () => anything }, { body: { error: { details: [detail] } } });
    }));
  });
});
