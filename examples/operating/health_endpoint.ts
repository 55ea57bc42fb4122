import { Hono } from "hono";
import {
  Admission,
  Demand,
  ElasticWindowRateLimiter,
  health,
  KeyedRateLimiter,
  MemoryPressureGate,
  TokenBucketRateLimiter,
} from "../../mod.ts";

const memory = new MemoryPressureGate(); // As an Admission has one by itself; by a name it can be shown.
const gpt = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60 });
const clients = new KeyedRateLimiter(
  "clients",
  (key: string) => new ElasticWindowRateLimiter(`client ${key}`, { maxRequests: 100, baseWindowMs: 60_000 }),
  { maxKeys: 1_000 },
);
const admission = new Admission({ memory, maxQueue: 200 }).start();

/** Whether admission still admits: stopped, or closed on a defect, it refuses even who wants nothing. */
function isOpen(): boolean {
  try {
    admission.tryAdmit(new Demand())?.release();
    return true;
  } catch {
    return false;
  }
}

const app: Hono = new Hono();
app.get("/health", (c) => {
  const body = {
    queueSize: admission.queueSize,
    oldestWaitMs: admission.waiters()[0]?.waitedMs ?? 0,
    // Without admittedAt: stacks are for the log, not for whoever can read this.
    held: admission.grants().map(({ accounts, heldMs, isOverdue }) => ({ accounts, heldMs, isOverdue })),
    clients: clients.size,
    accounts: health([memory, gpt, ...clients.accounts(20)]), // Twenty clients, the oldest; there may be thousands.
  };
  return c.json(body, isOpen() ? 200 : 503);
});

const grant = await admission.admit(new Demand().add(gpt, 1_500).add(clients, "red"), { maxHoldMs: 1_000 });
const response = await app.request("/health");
const { accounts, held, ...rest } = await response.json();
console.log(response.status, JSON.stringify(rest), held.length, "held");
console.log(accounts.map(({ name }: { name: string }) => name));
grant.release();
admission.stop();
console.log((await app.request("/health")).status);
