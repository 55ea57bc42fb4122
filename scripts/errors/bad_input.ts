import {
  Admission,
  clientAddress,
  Cost,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  type Grant,
  JobRunner,
  KeyedRateLimiter,
  MemoryPressureGate,
  ModelSpec,
  type RateLimiter,
  setKernelModule,
  TokenBucketRateLimiter,
  UpstreamFailure,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { admit } from "../../adapters/hono.ts";
import { admittedFetch } from "../../adapters/fetch.ts";

/** Anything at all, where TypeScript would not let it through. */
function wrong<T>(value: unknown): T {
  return value as T;
}

const clock = new ManualClock();
const admission = new Admission({ clock, memory: null }).start();
const gate = new CountingGate("http", 64);
const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60 });

/** Calls with wrong arguments, a few of each part of the library. Each throws, or rejects, at once. */
export const BAD_CALLS: readonly (() => unknown)[] = [
  () => new CountingGate("", 4),
  () => new CountingGate("http", 0),
  () => new CountingGate("http", wrong("64")),
  () => new TokenBucketRateLimiter("gpt", { tpm: 0, rpm: 60 }),
  () => new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: -1 }),
  () => new MemoryPressureGate({ limitBytes: 0 }),
  () => new KeyedRateLimiter("tenants", () => gate, { maxKeys: 0 }),
  () => new ModelSpec({ id: "gpt", tpm: 1.5 }),
  () => new Cost("-1", "USD"),
  () => new UpstreamFailure({ statusCode: 1_000 }),
  () => new Admission({ maxQueue: -1 }),
  () => new Admission({ memory: wrong({}) }),
  () => new Admission(wrong({ maxqueue: 5 })),
  () => new Demand(...wrong<[]>([gate])),
  () => new Demand().add(gate, 0),
  () => new Demand().add(bucket, wrong<number>("1800")),
  () => new Demand().add(wrong<RateLimiter<void>>(null)),
  () => admission.admit(wrong(gate)),
  () => admission.admit(new Demand().add(gate), { timeoutMs: -1 }),
  () => admission.admit(new Demand().add(gate), { signal: wrong("now") }),
  () => admission.admit(new Demand().add(gate), wrong(new AbortController().signal)),
  () => new JobRunner(admission, { http: wrong(10) }),
  () => admission.run(new Demand().add(gate), wrong<() => void>("work")),
  () => admission.release(wrong<Grant>(undefined)),
  () => clientAddress({ peer: "10.0.0.1", trustedProxies: 99 }),
  () => setKernelModule(wrong("kernel.wasm")),
  () => admit(wrong<{ demand: Demand }>({})),
  () => admit({ demand: new Demand(), timeoutMs: Number.NaN }),
  () => admittedFetch(wrong({ admission })),
];
