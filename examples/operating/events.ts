import { Admission, CountingGate, Demand, type LimiterEvent, LimiterEvents } from "../../mod.ts";

/** What a metrics library would keep: counters and a histogram of waits, by account. */
const counts = new Map<string, number>();
function count(event: LimiterEvent): void {
  const { limiterName, type, rejectReason } = event;
  const key = [limiterName, type, rejectReason].filter((part) => part !== null).join(" ");
  counts.set(key, (counts.get(key) ?? 0) + event.amount);
  console.log(LimiterEvents.render(event).replace(/after \d+ms/, "after a while"));
}

const orders = new CountingGate("db:orders", 1);
const admission = new Admission({ events: count }).start();
const demand = new Demand().add(orders);

const first = await admission.admit(demand);
const second = admission.admit(demand);
const third = admission.admit(demand, { timeoutMs: 20 }).catch((error) => console.log(error.code));
await third;
first.release();
(await second).release();
console.log(Object.fromEntries(counts));
