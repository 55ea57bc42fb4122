import {
  Admission,
  CountingGate,
  Demand,
  epoFailure,
  EPORateLimiter,
  healthTable,
  PubMedRateLimiter,
  UsptoOdpRateLimiter,
} from "../../mod.ts";

const pubmed = new PubMedRateLimiter({ maxRequests: 3 }); // Without an API key; left out, 10.
const odp = new UsptoOdpRateLimiter();
const odpCalls = new CountingGate("uspto-odp-calls", 1); // The portal takes one call at a time.
const epo = new EPORateLimiter();
const admission = new Admission().start();

// One job that asks all three gets all its slots at once, or waits and holds none.
const landscape = new Demand().add(pubmed).add(odp).add(odpCalls).add(epo, "SEARCH").add(epo, "RETRIEVAL");
await admission.run(landscape, () => Promise.resolve("papers and patents"));

/** Stands for a request to EPO that is taken for a robot's. */
function searchPatents(): Promise<Response> {
  const headers = { "X-Throttling-Control": "busy (retrieval=green:100, search=red:15)" };
  return Promise.resolve(new Response("<code>CLIENT.RobotDetected</code>", { status: 403, headers }));
}

const search = admission.run(new Demand().add(epo, "SEARCH"), async () => {
  const response = await searchPatents();
  epo.readThrottling(response.headers); // Every response says how loaded each service is.
  if (response.ok) return await response.text();
  const failure = epoFailure({ statusCode: response.status, body: await response.text(), service: "SEARCH" });
  throw Object.assign(new Error(failure.summary()), failure); // The window hears of a 429.
});
console.log(await search.catch((error: Error) => error.message));
console.log(healthTable([pubmed, odp, ...epo.buckets.slice(0, 2)]));
