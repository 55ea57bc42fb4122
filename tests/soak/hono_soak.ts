// A Hono app in this process under clients that mostly misbehave.

import assert from "node:assert/strict";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { Hono } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand } from "../../mod.ts";
import { Chance } from "../chance.ts";
import { eventually, RawClient } from "../hono/raw_client.ts";
import { watchReleases } from "../hono/releases.ts";
import type { HonoServer } from "../hono/servers.ts";
import { checkOutcomes, playClients, REQUESTS } from "./hono_clients.ts";
import { addRoutes, SLOTS } from "./hono_routes.ts";

/** Registers the soak on one server; the process may grow by so much after a quarter of the requests. */
export function honoSoak(server: HonoServer, growthBytes: number): void {
  describe(`Hono's admit on ${server.name} among clients that leave`, () => {
    it(`${REQUESTS.toLocaleString("en")} requests leave no grant, no waiter and no second release`, async () => {
      const seed = Number(process.env.SEED ?? 11);
      const chance = new Chance(seed);
      const gate = new CountingGate("slots", SLOTS);
      const admission = new Admission({ memory: null, maxQueue: 1_000 }).start();
      const limited = admit({ demand: new Demand().add(gate), admission, maxHoldMs: Infinity });
      const app = new Hono().use(limited) as unknown as Hono;
      app.onError((_, c) => c.text("sorry", 500));
      addRoutes(app, chance);
      const listening = await server.listen(app);
      const releases = watchReleases();
      const prey = {
        open: (path: string, { method }: { method: string }) =>
          new RawClient(listening.port, path, { method }),
        rssBytes: () => process.memoryUsage().rss,
        requests: REQUESTS,
        growthBytes,
      };
      const outcomes = await playClients(prey, chance);
      const facts = () =>
        `${gate.currentInUse} in use, ${limited.heldCount} held, ${admission.queueSize} waiting, ` +
        `${JSON.stringify([...outcomes])}, seed ${seed}`;
      await eventually(() => gate.currentInUse + limited.heldCount + admission.queueSize === 0, facts);
      releases.stop();
      await listening.close();
      assert.equal(releases.doubles, 0, facts());
      checkOutcomes(outcomes, facts());
    });
  });
}
