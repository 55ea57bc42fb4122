import { Admission, Demand, TokenBucketRateLimiter } from "../../mod.ts";

const gpt = new TokenBucketRateLimiter("gpt", { tpm: 600_000, rpm: 600 });
const admission = new Admission().start();

using grant = await admission.admit(new Demand().add(gpt, 1_800));
grant.settle(gpt, 1_234); // What the provider billed; the rest is there again at once.
gpt.record429(); // Or gpt.recordSuccess(), which takes it back step by step.
console.log(gpt.capacity, gpt.statusIndicator);
