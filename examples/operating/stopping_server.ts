import process from "node:process";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand } from "../../mod.ts";

const workers = new CountingGate("workers", 1);
const admission = new Admission({ maxQueue: 200 }).start();
const app: Hono = new Hono();
app.use("/work", admit({ demand: new Demand().add(workers), admission }));
app.get("/work", async (c) => {
  await new Promise((done) => setTimeout(done, 300));
  return c.text("done");
});
const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });

process.once("SIGTERM", async () => {
  const closed = new Promise((resolve) => server.close(resolve)); // No new connections; on its way, not awaited yet.
  admission.stop(); // Who waits in line is answered 503 now, instead of after their whole wait.
  await admission.drain(); // What runs is done, streams included.
  await closed; // Every answer is sent.
  console.log("closed");
});

// Two clients, and the platform's signal while one is served and the other waits.
await new Promise((resolve) => server.listening ? resolve(null) : server.once("listening", resolve));
const { port } = server.address() as { port: number };
const ask = () => fetch(`http://127.0.0.1:${port}/work`, { headers: { connection: "close" } });
const clients = [ask(), ask()];
while (admission.queueSize === 0) await new Promise((resolve) => setTimeout(resolve, 10));
process.kill(process.pid, "SIGTERM");
console.log((await Promise.all(clients)).map(({ status }) => status).join(" and "));
