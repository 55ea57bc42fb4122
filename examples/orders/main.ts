// A shop over HTTP. ORDERS_DATABASE says where its orders are: a file for the embedded database (in memory when left out), or a
// postgres:// address. PORT is where it listens; 0 takes a free one. Runs on Deno and on Bun.

import process from "node:process";
import { Admission } from "../../mod.ts";
import { serve } from "./serve.ts";
import { openSqliteShop } from "./sqlite_orders.ts";

const { ORDERS_DATABASE: place = ":memory:", PORT: port = "8000" } = process.env;
/** Connections for all routes together. */
const MAX_CONCURRENT = 4;

const admission = new Admission({ maxQueue: 1_000 }).start();
const shop = /^postgres(ql)?:/.test(place)
  ? await (await import("./pg_orders.ts")).openPgShop(admission, place, MAX_CONCURRENT)
  : await openSqliteShop(admission, place, MAX_CONCURRENT);
const server = serve(Number(port), (request) => shop.app.fetch(request));
console.log(`the shop is open at http://127.0.0.1:${server.port}`);

process.on("SIGTERM", async () => {
  const closed = server.close(); // It waits for whoever stands in line, so they are answered first.
  admission.stop();
  await admission.drain();
  await closed;
  await shop.end();
  console.log("the shop is closed");
  process.exit(0);
});
