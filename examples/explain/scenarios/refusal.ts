import { CountingGate, Demand, ElasticWindowRateLimiter, UpstreamFailure } from "../../../mod.ts";
import type { Scenario } from "../scenario.ts";

/** Who can never be granted is refused at once, or when the line is next looked at. */
export const refusal: Scenario = {
  name: "refusal",
  title: "what can never be granted is refused, on arrival and in line; a caller may leave",
  async play(stage) {
    const db = stage.open(new CountingGate("db", 2));
    const search = stage.open(
      new ElasticWindowRateLimiter("search", {
        maxRequests: 10,
        baseWindowMs: 1_000,
        maxThrottle: 0,
        failuresAtMaxToBlock: 1,
        clock: stage.clock,
      }),
    );
    const giveUp = new AbortController();
    await stage.arrives("wide", new Demand().add(db, 3));
    await stage.arrives("report", new Demand().add(db, 2));
    await stage.until(100);
    await stage.arrives("merge", new Demand().add(db, 2), { signal: giveUp.signal });
    await stage.arrives("find", new Demand().add(search).add(db));
    await stage.arrives("list", new Demand().add(db));
    await stage.until(200);
    await stage.shrinks("the upstream of search fails, its circuit opens", () => {
      search.onRateLimitError(new UpstreamFailure({ statusCode: 429, service: "search" }));
    });
    await stage.until(300);
    await stage.frees("merge is aborted by its caller", () => giveUp.abort(new Error("the user left")));
    await stage.until(400);
    await stage.releases("report");
  },
};
