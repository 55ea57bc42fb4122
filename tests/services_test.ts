// Private servers: who they are, how they are reached, and that nothing of them is left.

// Left out of npm run ok: it starts database servers.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describe, it } from "@std/testing/bdd";
import { mariadb } from "../scripts/services/mariadb.ts";
import { postgres } from "../scripts/services/postgres.ts";
import { PrivateServer } from "../scripts/services/private_server.ts";
import { describeOn } from "./database_servers.ts";

/** Whether somebody listens there. */
function listens(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

function isGone(folder: string): boolean {
  return !existsSync(folder);
}

async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let looks = 0; looks < 500; looks++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`not within 10 s: ${what}`);
}

for (const recipe of [postgres, mariadb]) {
  describeOn(recipe, "A private server", () => {
    it("is nobody's but ours: no root, a port of the loopback below 32768, its data in its folder, gone with it", async () => {
      const server = await PrivateServer.open(recipe);
      const { port, hostname, password } = new URL(server.url);
      assert.equal(hostname, "127.0.0.1");
      assert.ok(Number(port) < 32_768);
      assert.equal(password.length, 24);
      assert.equal(await listens(Number(port), "127.0.0.1"), true);
      assert.equal(await listens(Number(port), "127.0.0.2"), false);
      const pid = Number(readFileSync(`${server.folder}/server.pid`, "utf8"));
      const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      assert.notEqual(uid, "0");
      assert.equal(statSync(server.folder).mode & 0o777, 0o700);
      assert.ok(readdirSync(server.folder).includes("data"));
      await server.stop();
      assert.equal(await listens(Number(port), "127.0.0.1"), false);
      await server.start();
      assert.equal(await listens(Number(port), "127.0.0.1"), true);
      await server.dispose();
      assert.equal(await listens(Number(port), "127.0.0.1"), false);
      assert.ok(isGone(server.folder));
    });
  });
}

describeOn(postgres, "A private server whose program is killed", () => {
  it("ends, and its folder goes", async () => {
    const program = fileURLToPath(new URL("./fixtures/children/server_holder.ts", import.meta.url));
    const flags = process.versions["bun"] === undefined ? ["run", "-A", "--no-check"] : ["run"];
    const child = spawn(process.execPath, [...flags, program], { stdio: ["ignore", "pipe", "ignore"] });
    const line = await new Promise<string>((resolve) =>
      child.stdout.once("data", (chunk) => resolve(String(chunk)))
    );
    const { folder, url } = JSON.parse(line) as { folder: string; url: string };
    const port = Number(new URL(url).port);
    assert.equal(await listens(port, "127.0.0.1"), true);
    child.kill("SIGKILL");
    await until(() => isGone(folder), "the folder goes");
    await until(async () => !await listens(port, "127.0.0.1"), "the server ends");
  });
});

describe("A server that is not installed", () => {
  it("is refused with what to install", async () => {
    await assert.rejects(PrivateServer.open({ ...postgres, isInstalled: false }), /install postgresql/);
  });
});
