// examples/orders, as its own process over real requests: on the embedded database, and on PostgreSQL where that is installed.

// Left out of npm run ok: it starts database servers.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { postgres } from "../scripts/services/postgres.ts";
import { describeOn } from "./database_servers.ts";

const MAIN = fileURLToPath(new URL("../examples/orders/main.ts", import.meta.url));

/** The shop while it is open. */
class RunningShop {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #said = "";

  constructor(database: string) {
    const args = process.versions.bun === undefined ? ["run", "-A", "--no-check", MAIN] : [MAIN];
    const env = { ...process.env, NO_COLOR: "1", ORDERS_DATABASE: database, PORT: "0" };
    this.#child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#ended = new Promise((resolve) => this.#child.on("close", resolve));
  }

  /** Resolves with its address. */
  async open(): Promise<string> {
    const failed = this.#ended.then((status) => assert.fail(`the shop ended with ${status}: ${this.#said}`));
    const told = new Promise<string>((resolve) => {
      const hear = (text: string) => {
        this.#said += text;
        const address = /open at (\S+)\n/.exec(this.#said)?.[1];
        if (address !== undefined) resolve(address);
      };
      this.#child.stdout!.setEncoding("utf8").on("data", hear);
      this.#child.stderr!.setEncoding("utf8").on("data", hear);
    });
    return await Promise.race([told, failed]);
  }

  /** Ends it as a host would; answers its status and its last line. */
  async close(): Promise<[number | null, string]> {
    // A child that was ended by its kill() has no status on Deno.
    process.kill(this.#child.pid!, "SIGTERM");
    return [await this.#ended, this.#said.trim().split("\n").at(-1)!];
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

async function withShop(database: string, visit: (address: string) => Promise<void>): Promise<void> {
  const shop = new RunningShop(database);
  try {
    await visit(await shop.open());
    assert.deepEqual(await shop.close(), [0, "the shop is closed"]);
  } finally {
    shop.kill();
  }
}

async function order(address: string, body: unknown): Promise<{ status: number; text: string }> {
  const response = await fetch(`${address}/orders`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

async function read(address: string, path: string): Promise<unknown> {
  const response = await fetch(`${address}${path}`);
  const text = await response.text();
  return response.status === 200 ? JSON.parse(text) : response.status;
}

/** Twelve customers at once, for ten tins of paint. */
async function visitShop(address: string): Promise<void> {
  assert.deepEqual(await read(address, "/stock"), [{ sku: "brush", left: 5 }, { sku: "paint", left: 10 }]);
  const customers = Array.from({ length: 12 }, () => order(address, { sku: "paint", quantity: 1 }));
  const answers = await Promise.all(customers);
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...new Array(10).fill(201), 409, 409], answers[0]!.text);
  assert.ok(answers.some(({ text }) => text === "There are no 1 of paint"));
  assert.deepEqual(await read(address, "/stock"), [{ sku: "brush", left: 5 }, { sku: "paint", left: 0 }]);
  const placed = await read(address, "/orders") as { id: number }[];
  assert.equal(new Set(placed.map(({ id }) => id)).size, 10);
  const first = placed[0]!;
  assert.deepEqual(await read(address, `/orders/${first.id}`), { id: first.id, sku: "paint", quantity: 1 });
  assert.equal(await read(address, "/orders/999999"), 404);
  const wrong = ["", "[]", null, {}, { sku: "paint" }, { sku: "paint", quantity: 1.5 }, {
    sku: 1,
    quantity: 1,
  }];
  for (const body of wrong) assert.equal((await order(address, body)).status, 400, JSON.stringify(body));
  assert.equal((await order(address, { sku: "hammer", quantity: 1 })).status, 409);
  const health = await (await fetch(`${address}/health`)).text();
  assert.match(health, /^db:orders +semaphore +0\/4 +0% +0 +-$/m);
}

/** The same shop, opened again. */
async function visitAgain(address: string): Promise<void> {
  assert.equal((await read(address, "/orders") as unknown[]).length, 10);
  assert.deepEqual(await read(address, "/stock"), [{ sku: "brush", left: 5 }, { sku: "paint", left: 0 }]);
}

describe("The example of orders, on the embedded database", () => {
  it("DB-01 DB-07 sells what there is and no more, in memory and in a file, which keeps it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-orders-"));
    try {
      await withShop(":memory:", visitShop);
      await withShop(join(folder, "orders.db"), visitShop);
      await withShop(join(folder, "orders.db"), visitAgain);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describeOn(postgres, "The example of orders", (server) => {
  it("DB-01 DB-07 sells what there is and no more, and keeps it", async () => {
    const { url } = await server();
    await withShop(url, visitShop);
    await withShop(url, visitAgain);
  });
});
