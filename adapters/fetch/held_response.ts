import type { AnswerReading } from "./answer_reading.ts";
import type { BodyReader, Lease } from "./lease.ts";

/** A response's body, opened, and what was read of it already. */
export interface OpenBody {
  readonly reader: BodyReader;
  /** In the order in which they came. */
  readonly read: Uint8Array[];
}

/** What a response of its own is made with. */
export interface Holding {
  readonly body: OpenBody;
  readonly lease: Lease;
  /** Reads along, or null. */
  readonly reading: AnswerReading | null;
  readonly signal: AbortSignal | null;
}

/**
 * The same response with a body that tells the lease how its use ended. Bytes and their order are those of the original; a chunk is
 * fetched when the consumer asks for one, so nothing piles up here.
 */
export function heldResponse(original: Response, holding: Holding): Response {
  const { status, statusText, headers } = original;
  const body = heldBody(holding);
  holding.lease.watch(body, holding.body.reader);
  return alike(new Response(body, { status, statusText, headers }), original);
}

/** What a Response's constructor cannot be given. */
function alike(
  response: Response,
  { url, redirected, type }: Pick<Response, "url" | "redirected" | "type">,
): Response {
  const clone = response.clone.bind(response);
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => alike(clone(), { url, redirected, type }) },
  });
}

function heldBody({ body, lease, reading, signal }: Holding): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isLeft = false;
  // A stream of bytes as fetch's own, for readers that bring their buffer.
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      try {
        const chunk = await nextChunk(body);
        if (chunk === null && signal?.aborted) throw signal.reason; // What was cancelled looks as if it had ended.
        if (chunk === null) {
          lease.end({ how: "whole" });
          controller.close();
          controller.byobRequest?.respond(0);
        } else {
          reading?.write(chunk);
          controller.enqueue(owned(chunk));
        }
      } catch (error) {
        // Servers do not listen to the end of a body that they have left: it would be an unhandled rejection.
        if (isLeft) return;
        lease.end({ how: "failed", error });
        throw signal?.aborted ? signal.reason : error;
      }
    },
    async cancel(reason) {
      isLeft = true;
      lease.end({ how: "left" });
      await body.reader.cancel(reason).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

/** The next chunk with something in it, null at the end. */
async function nextChunk({ reader, read }: OpenBody): Promise<Uint8Array | null> {
  for (;;) {
    const early = read.shift();
    const chunk = early ?? (await reader.read()).value;
    if (chunk === undefined) return null;
    if (chunk.length > 0) return chunk;
  }
}

/** A stream of bytes takes the whole buffer away from whoever shares it, so a part of one is copied. */
function owned(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = chunk.byteLength === chunk.buffer.byteLength && chunk.buffer instanceof ArrayBuffer;
  return isWhole ? chunk as Uint8Array<ArrayBuffer> : Uint8Array.from(chunk);
}
