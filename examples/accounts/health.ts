import { Admission, DatabaseGate, Demand, healthTable, TokenBucketRateLimiter } from "../../mod.ts";

const gpt = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60 });
const orders = new DatabaseGate("orders", 4);
const admission = new Admission().start();

using _grant = await admission.admit(new Demand().add(orders, 3));
gpt.record429();
console.log(healthTable([gpt, orders]));
