import { admittedFetch } from "../../adapters/fetch.ts";
import { Admission, ElasticWindowRateLimiter, UncorrectableError } from "../../mod.ts";

const upstream = new ElasticWindowRateLimiter("upstream", {
  maxRequests: 100,
  baseWindowMs: 1000,
  throttleIncrement: 9, // The first failure slows it down as far as it goes,
  failuresAtMaxToBlock: 2, // and the second opens the circuit.
});
const fetch = admittedFetch({
  admission: new Admission().start(),
  provider: "openai",
  demand: (demand) => demand.add(upstream), // Beside a place in the HTTP pool.
  maxRetries: 0,
  fetch: () => Promise.resolve(new Response("down", { status: 503 })),
});

for (let i = 0; i < 3; i++) {
  try {
    const response = await fetch("https://api.example.com/search");
    console.log(response.status, await response.text(), upstream.circuitState);
  } catch (error) {
    if (!(error instanceof UncorrectableError)) throw error;
    console.log(error.code, error.account); // Nothing is sent while the circuit is open.
  }
}
