// Reading along with a body as it passes by: cut anywhere, of any size, of any bytes.

import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, it } from "@std/testing/bdd";
import { answerReading } from "../adapters/fetch/answer_reading.ts";
import { events } from "./fetch_world.ts";
import { CHAT_STREAM, MESSAGE_STREAM, RESPONSES_STREAM } from "./provider_streams.ts";

describe("Reading along", () => {
  it("finds the same however the bytes are cut and the lines end, and never throws", () => {
    const streams = [CHAT_STREAM, RESPONSES_STREAM, MESSAGE_STREAM];
    fc.assert(fc.property(
      fc.constantFrom(...streams),
      fc.constantFrom("\n", "\r", "\r\n"),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (stream, lineEnd, cuts) => {
        const text = `: hello\n\nid: 7\ndataset: x\ndata\nretry: 5\n\n${events(...stream)}`.replaceAll(
          "\n",
          lineEnd,
        );
        const whole = answerReading("text/event-stream; charset=utf-8")!;
        whole.write(new TextEncoder().encode(text));
        const cut = answerReading("Text/Event-Stream")!;
        writeInCuts(cut, text, cuts);
        assert.notEqual(whole.usage(true), null);
        assert.deepEqual(cut.usage(true), whole.usage(true));
      },
    ));
  });

  it("agrees with JSON.parse about a member of any JSON, cut anywhere", () => {
    fc.assert(fc.property(
      fc.dictionary(
        fc.constantFrom("usage", "a", "usag", "usages", "x:{y", 'q"u'),
        fc.jsonValue({ maxDepth: 4 }),
      ),
      fc.constantFrom(undefined, 1),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      (body, indent, cuts) => {
        const reading = answerReading("application/vnd.api+json")!;
        const text = JSON.stringify(body, null, indent);
        writeInCuts(reading, text, cuts);
        const { usage } = JSON.parse(text);
        const isObject = typeof usage === "object" && usage !== null && !Array.isArray(usage);
        assert.deepEqual(reading.usage(true), isObject ? usage : null);
      },
    ));
  });

  it("joins data lines of one event, however they end, and takes one space after the colon away", () => {
    for (const lineEnd of ["\n", "\r", "\r\n"]) {
      const reading = answerReading("text/event-stream")!;
      const lines = ['data:{"usage":', 'data: {"total_tokens":', "data:  6}}", "", "data: [DONE]", "", ""];
      reading.write(new TextEncoder().encode(lines.join(lineEnd)));
      assert.deepEqual(reading.usage(false), { total_tokens: 6 });
    }
  });

  it("hears nothing of an event that never ends, and holds no more of it than its bound", () => {
    const reading = answerReading("text/event-stream")!;
    reading.write(
      new TextEncoder().encode(`data: {"usage": {"x": "${"y".repeat(100_000)}", "total_tokens": 3}}\n\n`),
    );
    assert.equal(reading.usage(true), null, "a usage that long is junk");
    reading.write(new TextEncoder().encode('data: {"usage": {"total_tokens": 3}}'));
    assert.equal(reading.usage(true), null);
  });

  it("takes any bytes at all", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom("application/json", "text/event-stream"),
        (bytes, type) => {
          const reading = answerReading(type)!;
          reading.write(bytes);
          reading.usage(true);
          assert.ok(reading.fault === null || typeof reading.fault === "object");
        },
      ),
    );
    fc.assert(fc.property(fc.array(fc.constantFrom(...'{}[]:,"\\ ausge1\n'), { maxLength: 60 }), (signs) => {
      const reading = answerReading("application/json")!;
      reading.write(new TextEncoder().encode(`{"usage":${signs.join("")}`));
      reading.usage(true);
    }));
  });

  it("leaves other types alone", () => {
    for (
      const type of [
        null,
        "",
        "text/plain",
        "audio/mpeg",
        "application/jsonl",
        "application/vnd.amazon.eventstream",
      ]
    ) {
      assert.equal(answerReading(type), null);
    }
  });
});

function writeInCuts(
  reading: { write(chunk: Uint8Array): void },
  text: string,
  cuts: readonly number[],
): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + cuts[i % cuts.length]!;
    reading.write(bytes.subarray(at, end));
    at = end;
  }
}
