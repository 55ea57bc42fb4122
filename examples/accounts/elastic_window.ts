import { Admission, Demand, ElasticWindowRateLimiter, UpstreamFailure } from "../../mod.ts";

const search = new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: 1_000 });
const admission = new Admission().start();

using call = await admission.admit(new Demand().add(search));
search.onRateLimitError(new UpstreamFailure({ statusCode: 429, service: "search" }));
console.log(search.status.summary(), search.statusIndicator, call.isEmpty);
