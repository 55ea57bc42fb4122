// Left out of npm run ok: it starts database servers.

import assert from "node:assert/strict";
import process from "node:process";
import { it } from "@std/testing/bdd";
import type { PrivateServer } from "../scripts/services/private_server.ts";
import { type DatabaseWorld, describeOn } from "./database_servers.ts";
import { mysqlWorld } from "./mysql_world.ts";
import { pgWorld } from "./pg_world.ts";
import { type Ending, ServerFanOut } from "./server_fan_out.ts";

const IS_SOAK = process.env["SOAK"] === "1";
const JOBS = IS_SOAK ? 500 : 120;
const ROUNDS = IS_SOAK ? 10 : 1;
const CRASHES = IS_SOAK ? 4 : 1;
/** Each occurs in every round, whatever the seed; crashes take who is there. */
const ENDINGS: readonly Ending[] = [
  "committed",
  "failed",
  "aborted",
  "killed",
  "late",
  "stuck",
  "left the line",
  "read",
];

function fanOutCase<T>(world: DatabaseWorld<T>, server: () => Promise<PrivateServer>): void {
  it(`DB-13 ${JOBS} jobs that fail, are aborted, killed and crashed never have more connections than the bound`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const seed = Number(process.env["SEED"] ?? 11) + round;
      const { endings, mostOut, mostSessions } = await ServerFanOut.play(world, await server(), {
        jobs: JOBS,
        crashes: CRASHES,
        seed,
      });
      const facts = `${
        JSON.stringify([...endings])
      }, seed ${seed}, most out ${mostOut}, most sessions ${mostSessions}`;
      assert.equal(mostOut, 8, facts);
      // The server is looked at as often as it answers, which may miss the top.
      assert.ok(mostSessions > 4 && mostSessions <= 8, facts);
      for (const ending of ENDINGS) {
        assert.ok((endings.get(ending) ?? 0) > 0, facts);
      }
    }
  });
}

describeOn(pgWorld.recipe, "A fan-out", (server) => fanOutCase(pgWorld, server));
describeOn(mysqlWorld.recipe, "A fan-out", (server) => fanOutCase(mysqlWorld, server));
