import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, type Clock, Demand, ElasticWindowRateLimiter } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

/** An app takes its clock from outside; left out, it is the system's. */
function makeApp(options: { clock?: Clock } = {}): { app: Hono; admission: Admission } {
  const admission = new Admission({ memory: null, ...options }).start();
  const window = new ElasticWindowRateLimiter("reports", {
    maxRequests: 2,
    baseWindowMs: 60_000,
    ...options,
  });
  const app: Hono = new Hono();
  app.use(
    "/reports/*",
    admit({ demand: new Demand().add(window), admission, timeoutMs: 45_000, ...options }),
  );
  app.get("/reports/:id", (c) => c.text(`report ${c.req.param("id")}`));
  return { app, admission };
}

describe("The route of reports", () => {
  it("lets the third request wait for the first to be a minute old", async () => {
    const clock = new ManualClock();
    const { app, admission } = makeApp({ clock });
    await app.request("/reports/1");
    await clock.advance(20_000);
    await app.request("/reports/2");
    const third = app.request("/reports/3");
    await clock.advance(39_999);
    assert.equal(admission.queueSize, 1);
    await clock.advance(1);
    assert.equal(await (await third).text(), "report 3");
    await admission.drain(); // Every grant is back.
  });

  it("refuses at once what could not be answered in 45 seconds", async () => {
    const { app } = makeApp({ clock: new ManualClock() });
    const statuses = [];
    for (let id = 1; id <= 3; id++) {
      const { status, headers } = await app.request(`/reports/${id}`);
      statuses.push([status, headers.get("retry-after")]);
    }
    assert.deepEqual(statuses, [[200, null], [200, null], [429, "60"]]);
  });

  it("forgets a request whose client goes away", async () => {
    const clock = new ManualClock();
    const { app, admission } = makeApp({ clock });
    for (let id = 1; id <= 2; id++) await app.request(`/reports/${id}`);
    await clock.advance(30_000);
    const client = new AbortController();
    const left = app.request("/reports/3", { signal: client.signal });
    await clock.advance(10_000);
    client.abort();
    await left;
    assert.deepEqual([admission.queueSize, clock.pendingTimers], [0, 0]);
  });
});
