import { Hono } from "hono";
import { refusalResponse } from "../../adapters/hono.ts";
import { Admission, Demand, ElasticWindowRateLimiter } from "../../mod.ts";

const mails = new ElasticWindowRateLimiter("mails", { maxRequests: 1, baseWindowMs: 60_000 });
const mail = new Demand().add(mails);
const admission = new Admission().start();

const app: Hono = new Hono();
// Only who sends something needs a permit, and what it takes is known in the handler alone.
app.post("/reports/:id", async (c) => {
  if (c.req.param("id") === "empty") return c.text("nothing to send");
  return await admission.run(mail, () => c.text("sent"), { timeoutMs: 0 });
});
app.onError((error, c) => refusalResponse(error, { demand: mail }) ?? c.text("Internal Server Error", 500));

for (const id of ["empty", "first", "second"]) {
  const response = await app.request(`/reports/${id}`, { method: "POST" });
  console.log(response.status, response.headers.get("ratelimit"), await response.text());
}
