import type { Context } from "hono";
import type { Hold } from "./holds.ts";

/**
 * Remembers the last response that the context made of a whole body, so that nothing has to be done about it: looking at a
 * response's body costs a runtime its fast path, and a wrapped text loses its length on Deno and its type on Bun.
 */
export class WholeResponse {
  #last: Response | null = null;

  constructor(c: Context) {
    const { text, json, html, body, newResponse } = c;
    const note = (response: Response): Response => this.#last = response;
    c.text = ((data, arg, headers) => note(text(data, arg as never, headers) as Response)) as typeof text;
    c.json = ((data, arg, headers) => note(json(data, arg as never, headers) as Response)) as typeof json;
    c.html = ((data: string | Promise<string>, arg: never, headers: never) => {
      const made = html(data, arg, headers) as Response | Promise<Response>;
      return made instanceof Promise ? made.then(note) : note(made);
    }) as typeof html;
    c.body = ((data: unknown, arg: never, headers: never) => {
      const made = body(data as null, arg, headers) as unknown as Response;
      return isWhole(data) ? note(made) : made;
    }) as typeof body;
    c.newResponse = ((data: unknown, arg: never, headers: never) => {
      const made = newResponse(data as null, arg, headers) as unknown as Response;
      return isWhole(data) ? note(made) : made;
    }) as typeof newResponse;
  }

  /** Whether a response is the one that was remembered. */
  is(response: Response): boolean {
    return this.#last === response;
  }

  /** Whether its body is that of the one that was remembered: Hono makes a response anew when it merges headers. */
  hasBody(body: ReadableStream<Uint8Array>): boolean {
    return this.#last !== null && this.#last.body === body;
  }
}

/** Whether a body is there as a whole: null, a text or bytes. */
function isWhole(data: unknown): boolean {
  return typeof data === "string" || data === null || data === undefined || data instanceof ArrayBuffer ||
    ArrayBuffer.isView(data);
}

/** Ends a hold when the response of its request is over: at once where nothing is left to send. */
export function endWithResponse(c: Context, hold: Hold, whole: WholeResponse): void {
  // Nobody reads the body of an answer to HEAD, and nobody cancels it.
  if (!c.finalized || c.req.method === "HEAD" || whole.is(c.res)) return hold.end();
  if (endWithRuntime(c.env, hold)) return;
  const { res } = c;
  // The headers first: on Bun, who looks at the body before loses the type.
  const headers = new Headers(res.headers);
  const { body } = res;
  // A response that somebody reads already was sent by somebody else: an outer middleware that lost its patience.
  if (body === null || body.locked || res.bodyUsed || whole.hasBody(body)) return hold.end();
  c.res = undefined;
  c.res = new Response(watched(body, hold), { status: res.status, statusText: res.statusText, headers });
}

/** What the servers' own objects offer: `completed` of Deno.serve's info, `outgoing` of @hono/node-server. */
interface ServerEnv {
  readonly completed?: PromiseLike<unknown>;
  readonly outgoing?: { readonly destroyed?: boolean; once?(event: "close", listener: () => void): unknown };
}

/** Ends a hold when the runtime says that the response is over, whatever became of its body; false where it never says so. */
function endWithRuntime(env: unknown, hold: Hold): boolean {
  if (typeof env !== "object" || env === null) return false;
  const { completed, outgoing } = env as ServerEnv;
  if (typeof completed?.then === "function") {
    const end = () => hold.end();
    completed.then(end, end);
    return true;
  }
  if (typeof outgoing?.once !== "function" || typeof outgoing.destroyed !== "boolean") return false;
  // Who went away before this line is not announced again.
  if (outgoing.destroyed) hold.end();
  else outgoing.once("close", () => hold.end());
  return true;
}

/** The same body, read as it is asked for; the hold ends at its end, its error or its cancellation. */
function watched(body: ReadableStream<Uint8Array>, hold: Hold): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        hold.end();
        controller.close();
      } catch (error) {
        hold.end();
        controller.error(error);
      }
    },
    cancel(reason) {
      hold.end();
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
