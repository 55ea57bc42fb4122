// A limit of one isolate: every request that this isolate handles goes through one Admission.

import {
  Admission,
  CountingGate,
  Demand,
  QueueFullError,
  setKernelModule,
  TimeoutError,
  TokenBucketRateLimiter,
  WorkersClock,
} from "../../workers.ts";
import kernel from "@sluice/admission/kernel.wasm";

setKernelModule(kernel);

const clock = new WorkersClock();
const gpt = new TokenBucketRateLimiter("gpt", { tpm: 600_000, rpm: 600, clock });
const upstream = new CountingGate("upstream", 6);
const admission = new Admission({ clock, maxQueue: 100 }).start();

async function answer(request: Request): Promise<Response> {
  const demand = new Demand().add(gpt, 1_800).add(upstream);
  // The signal fires with the compatibility flag enable_request_signal; without it the clock notices, a little later.
  using grant = await admission.admit(demand, { timeoutMs: 10_000, signal: request.signal });
  return Response.json({ waitedMs: grant.wallWaitMs }); // Call the model here.
}

export default {
  async fetch(request: Request): Promise<Response> {
    try {
      return await answer(request);
    } catch (error) {
      if (!(error instanceof TimeoutError || error instanceof QueueFullError)) throw error;
      const seconds = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000);
      return new Response("busy", { status: 503, headers: { "retry-after": String(seconds) } });
    }
  },
};
