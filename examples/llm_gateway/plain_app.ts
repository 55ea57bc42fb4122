import { type Context, Hono } from "hono";
import { seededRandom } from "../replay/random.ts";
import { answerTo, handOn } from "./gateway_answers.ts";
import { type GatewayOptions, requestOf } from "./gateway_app.ts";

/** Retries and pauses of the official clients: https://github.com/openai/openai-node, "Retries". */
const RETRIES = 2;
const FIRST_PAUSE_MS = 500;
const LONGEST_ASKED_MS = 60_000;

/** The same gateway without admission: it sends at once, and asks again after a 429 as the official clients do. */
export function makePlainGateway(options: GatewayOptions): Hono {
  const { clock, timeLimitMs, providerUrl } = options;
  const random = seededRandom(11);
  const app: Hono = new Hono();
  app.post("/v1/chat/completions", async (c) => {
    const body = await c.req.text();
    const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(timeLimitMs)]);
    for (let retries = 0;; retries++) {
      const request = requestOf(options, { body, signal });
      const answer = await fetch(new URL("/v1/chat/completions", providerUrl), request);
      if (answer.status !== 429 || retries === RETRIES) return handOn(answer);
      await answer.body?.cancel();
      const asked = Number(answer.headers.get("retry-after-ms") ?? NaN);
      const own = FIRST_PAUSE_MS * 2 ** retries * (1 - random.next() / 4);
      const pauseMs = asked >= 0 && asked < LONGEST_ASKED_MS ? asked : own;
      await new Promise<void>((resolve) => void clock.setTimer(pauseMs, resolve));
    }
  });
  app.onError((error: Error, c: Context) => answerTo(error, c.req.raw.signal));
  return app;
}
