import { HttpConnectionGate, RateLimiterRegistry } from "../../mod.ts";

const accounts = new RateLimiterRegistry(); // Every registry of the process answers with the same accounts.
const gpt = { id: "gpt", tpm: 90_000 };

console.log(accounts.bucket(gpt) === accounts.bucket(gpt), accounts.limiter(HttpConnectionGate).capacity);
accounts.updateLimits("gpt", { tpm: 120_000, rpm: 240 }); // What the provider said; the throttle is kept.
const { maxTokens, maxRequests } = accounts.status(gpt);
console.log(maxTokens, maxRequests);
