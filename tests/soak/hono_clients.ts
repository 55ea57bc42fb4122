// Clients that mostly misbehave: half of them leave at a random instant, others ask HEAD, meet errors, or listen to streams
// that never end.

import assert from "node:assert/strict";
import process from "node:process";
import type { Chance } from "../chance.ts";
import type { RawClient } from "../hono/raw_client.ts";
import { PATHS, pause } from "./hono_routes.ts";

/** How many requests there are in all. */
export const REQUESTS: number = process.env.SOAK === "1" ? 20_000 : 2_000;
/** Clients at a time: more than there are slots, so that many wait. */
const CLIENTS = 96;
/** How long a client that does not leave early listens to a stream without an end once it has begun. */
const PATIENCE_MS = 60;

/** What the clients are let loose on. */
export interface Prey {
  open(path: string, options: { method: string; isLeaving: boolean }): RawClient;
  /** The memory of the process that serves. */
  rssBytes(): number;
  readonly requests: number;
  /** By how much it may grow after a quarter of the requests. */
  readonly growthBytes: number;
}

/** One client from its request to its end; answers what became of it. */
async function visit(prey: Prey, chance: Chance): Promise<string> {
  const path = chance.pick(PATHS);
  const method = chance.below(10) === 0 ? "HEAD" : "GET";
  const isLeaving = chance.below(2) === 0;
  const patienceMs = isLeaving ? chance.below(20) : PATIENCE_MS;
  const client = prey.open(`/${path}`, { method, isLeaving });
  // Also for HEAD: Hono's event streams ask for a connection that stays open.
  const isEndless = path === "sse" || path === "idle";
  if (isLeaving || isEndless) {
    if (!isLeaving) await client.answered;
    await Promise.race([client.closed, pause(patienceMs)]);
    client.leave();
  }
  await client.closed;
  return client.received === "" ? "left" : String(client.status);
}

/** Sends them all; answers how often each outcome was. */
export async function playClients(prey: Prey, chance: Chance): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  let left = prey.requests;
  let quarterBytes = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (left-- > 0) {
      const outcome = await visit(prey, chance);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (left === Math.floor(prey.requests * 0.75)) quarterBytes = prey.rssBytes();
    }
  });
  await Promise.all(clients);
  const growth = prey.rssBytes() - quarterBytes;
  assert.ok(growth < prey.growthBytes, `grew by ${(growth / 2 ** 20).toFixed(0)} MB after the first quarter`);
  return outcomes;
}

/** Whether every usual outcome was met often enough for the run to mean something. */
export function checkOutcomes(outcomes: ReadonlyMap<string, number>, facts: string): void {
  const requests = [...outcomes.values()].reduce((sum, count) => sum + count);
  for (const outcome of ["left", "200", "204", "302", "500"]) {
    assert.ok((outcomes.get(outcome) ?? 0) > requests / 200, facts);
  }
}
