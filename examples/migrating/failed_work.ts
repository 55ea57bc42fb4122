import {
  Admission,
  checkedResponse,
  classifyUpstreamFailure,
  CountingGate,
  JobRequirements,
  JobRunner,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

const statuses = [503, 200];
/** Stands for a request that heeds its signal. */
async function search(_signal: AbortSignal): Promise<Response> {
  return await Promise.resolve(new Response("results", { status: statuses.shift()! }));
}

const clock = new ManualClock(); // Left out, the system's; here the pause is not waited for.
const runner = new JobRunner(new Admission({ memory: null, clock }).start(), { clock });
const needs = new JobRequirements({ timeoutMs: 60_000 }).limiter(new CountingGate("places", 5));
const results = runner.run(needs, async ({ signal }) => {
  try {
    return await (await checkedResponse(await search(signal))).text();
  } catch (error) {
    throw classifyUpstreamFailure(error); // 408, 429 and 5xx are run again, what else fails is thrown as it is.
  }
});

await clock.advance(30_000);
console.log(await results, statuses.length);
