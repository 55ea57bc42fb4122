// A Worker whose requests wait in the Durable Object of limit_object.ts, wherever they are handled.

import { type Answer, Limit, Presence } from "./limit_object.ts";

export { Limit };

interface Env {
  readonly LIMIT: {
    idFromName(name: string): unknown;
    get(id: unknown): {
      admit(tokens: number, timeoutMs: number, caller: Presence): Promise<Answer & Disposable>;
    };
  };
}

export default {
  async fetch(_request: Request, { LIMIT }: Env): Promise<Response> {
    // Disposing of the answer gives the lease in it back.
    using answer = await LIMIT.get(LIMIT.idFromName("gpt")).admit(1_800, 10_000, new Presence());
    if (answer.lease !== null) return new Response("an answer"); // Call the model here.
    const seconds = Math.ceil((answer.retryAfterMs ?? 1_000) / 1_000);
    return new Response(answer.code, { status: 503, headers: { "retry-after": String(seconds) } });
  },
};
