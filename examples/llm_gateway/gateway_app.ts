import { type Context, Hono } from "hono";
import {
  admittedFetch,
  type AdmittedFetchOptions,
  estimateTokens,
  type Fetch,
} from "../../adapters/fetch.ts";
import { admit } from "../../adapters/hono.ts";
import { Admission, type Clock, CountingGate, Demand, type EventSink, type Logger } from "../../mod.ts";
import { answerTo, handOn } from "./gateway_answers.ts";
import { SharedQuota } from "./shared_quota.ts";
import { skimBucket } from "./skim_bucket.ts";
import type { Quota } from "./sliding_window.ts";

/** How a gateway is set up. */
export interface GatewayOptions {
  /** The provider's address. */
  readonly providerUrl: string;
  /** The gateway's key there. */
  readonly key: string;
  /** The name of the model. */
  readonly model: string;
  /** What the provider grants to the key. */
  readonly quota: Quota;
  /** The part of the quota that is this gateway's: above 0, at most 1. */
  readonly share: number;
  /** What may be saved up for a burst, as a part of the gateway's caps; 0.01 when left out. */
  readonly burst?: number;
  /** The clock of quotas, waits and pauses. */
  readonly clock: Clock;
  /** Longest time for an answer, from the call to its end, in wall ms. */
  readonly timeLimitMs: number;
  /** Most requests of callers that are open at a time; 1,000 when left out. */
  readonly maxOpen?: number;
  /** Most requests at the provider at a time; 200 when left out. */
  readonly maxInFlight?: number;
  /** The tokens of a request; `estimateTokens` when left out. */
  readonly estimate?: NonNullable<AdmittedFetchOptions["estimate"]>;
  /** Hears of every wait. */
  readonly events?: EventSink;
  /** Hears of retries and of limits that change. */
  readonly logger?: Logger;
}

/** A gateway: the app to serve, and what it counts with. */
export interface Gateway {
  readonly app: Hono;
  readonly admission: Admission;
  /** Requests of callers. */
  readonly open: CountingGate;
  /** Requests at the provider. */
  readonly http: CountingGate;
}

const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** A gateway in front of a provider: whoever asks it waits for the quota, and is not refused for it. */
export function makeGateway(options: GatewayOptions): Gateway {
  const { maxOpen = 1000, maxInFlight = 200, timeLimitMs, clock, events = () => {} } = options;
  const admission = new Admission({ memory: null, clock, events }).start();
  const open = new CountingGate("open", maxOpen);
  const http = new CountingGate("http", maxInFlight);
  const ask = askProvider(options, { admission, http });
  const app: Hono = new Hono();
  // Beyond that a caller hears at once that there is no room; the grant is held until the answer is sent.
  app.use("/v1/*", admit({ demand: new Demand().add(open), timeoutMs: 0 }));
  app.post("/v1/chat/completions", async (c) => {
    const body = await c.req.text();
    const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(timeLimitMs)]);
    return handOn(
      await ask(new URL("/v1/chat/completions", options.providerUrl), requestOf(options, { body, signal })),
    );
  });
  app.onError((error: Error, c: Context) => answerTo(error, c.req.raw.signal));
  return { app, admission, open, http };
}

/** The fetch of the gateway: the model's quota, then a place in the pool of connections, all at once. */
function askProvider(
  options: GatewayOptions,
  { admission, http }: Pick<Gateway, "admission" | "http">,
): Fetch {
  const { quota, share, model, clock, burst = 0.01, estimate = estimateTokens, logger = SILENT } = options;
  const skimmer = new Admission({ memory: null, clock }).start(); // Not the one whose events are counted.
  const skim = () => skimBucket(bucket, skimmer, burst);
  const accounts = new SharedQuota(share, { clock, logger, onLimits });
  const spec = { id: model, ...quota };
  const bucket = accounts.bucket(spec);
  let tpm = bucket.capacity;

  function onLimits(): void {
    if (bucket.capacity < tpm) skim(); // What was saved up at the higher rate is more than the lower one forgives.
    tpm = bucket.capacity;
  }

  return admittedFetch({
    admission,
    provider: "openai",
    models: [spec],
    accounts,
    http,
    clock,
    logger,
    estimate,
    demand() {
      if (admission.queueSize === 0) skim();
    },
  });
}

/** A request as the gateway sends it on, with its own key. */
export function requestOf(
  { key }: Pick<GatewayOptions, "key">,
  { body, signal }: { body: string; signal: AbortSignal },
): RequestInit {
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  return { method: "POST", headers, body, signal };
}
