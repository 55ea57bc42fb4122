import {
  Admission,
  CountingGate,
  createJobContext,
  Demand,
  healthTable,
  TokenBucketRateLimiter,
} from "../../mod.ts";

const gpt = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60 });
const orders = new CountingGate("db:orders", 2);
const admission = new Admission({ events: () => {} }).start(); // With a sink, waiters have names.

const report = await admission.admit(new Demand().add(gpt, 4_500).add(orders), { maxHoldMs: 30_000 });
const context = createJobContext({ id: "summary-7" });
const waiting = admission.admit(new Demand().add(gpt, 3_000).add(orders), { context });

console.log(healthTable([gpt, orders])); // Who is full.
for (const { job, accounts } of admission.waiters()) { // Who waits, oldest first, and for what.
  const short = accounts.filter(({ isShort }) => isShort).map(({ account, missing }) =>
    `${missing} of ${account}`
  );
  console.log(job?.id, "lacks", short.join(", "));
}
for (const { accounts, isOverdue } of admission.grants()) { // Who holds, of those with maxHoldMs.
  console.log("held:", accounts.join(", "), isOverdue ? "overdue" : "in time");
}
const next = admission.explain(new Demand().add(orders, 3)); // What would happen to a demand now.
console.log(next.fits, next.accounts.find(({ account }) => account === "db:orders")?.refusal);

report.settle(gpt, 900); // Much less was used: the waiter goes.
report.release();
(await waiting).release();
