// What the Hono adapter promises on every server, through real sockets.

import assert from "node:assert/strict";
import { after, before, describe, it } from "@std/testing/bdd";
import { eventually, RawClient, type RawRequest } from "./raw_client.ts";
import type { Platform, Site } from "./site.ts";
import { SLOTS, WHOLE_BODIES, type WorldState } from "./world.ts";

/** What the cases use. */
interface Stage {
  site(): Site;
  get(path: string, request?: RawRequest): RawClient;
}

/** Registers the cases for one platform. */
export function honoContract(platform: Platform): void {
  describe(`Hono's admit on ${platform.name}`, () => {
    let site: Site;
    const stage: Stage = {
      site: () => site,
      get: (path, request) => new RawClient(site.port, path, request),
    };

    before(async () => {
      site = await platform.open();
    });
    after(() => site.close());

    wholeCases(stage, platform);
    streamCases(stage);
    idleCases(stage, platform);
    lineCases(stage);
    if (platform.hasWebSockets) socketCases(stage);
  });
}

async function inUse({ site }: Stage): Promise<number> {
  return (await site().state()).inUse;
}

async function eventuallyState({ site }: Stage, holds: (state: WorldState) => boolean): Promise<void> {
  await eventually(async () => holds(await site().state()), async () => JSON.stringify(await site().state()));
}

function rests(stage: Stage): Promise<void> {
  return eventuallyState(stage, (state) => state.inUse + state.otherInUse + state.held + state.waiting === 0);
}

function queues(stage: Stage, count: number): Promise<void> {
  return eventuallyState(stage, ({ waiting }) => waiting === count);
}

/** Opens the doors once as many as are expected stand there. */
async function openDoors(stage: Stage, count = 1): Promise<void> {
  await eventuallyState(stage, ({ atDoor }) => atDoor === count);
  await stage.site().openDoors();
}

/** A response without what differs between any two. */
function withoutDate(received: string): string {
  return received.replace(/^date:.*\r\n/im, "");
}

/** The same in chunks, for a response of one chunk. */
function chunked(received: string): string {
  return received.replace(/^content-length: (\d+)\r\n/im, "Transfer-Encoding: chunked\r\n")
    .replace(/\r\n\r\n(.+)$/, (_, body: string) => `\r\n\r\n${body.length}\r\n${body}\r\n0\r\n\r\n`);
}

function wholeCases(stage: Stage, { lengthGap }: Platform): void {
  const { get } = stage;
  for (const kind of WHOLE_BODIES) {
    const gap = kind === "made" ? lengthGap : null;
    const how = gap === null ? "as the app does without it" : `in chunks, as ${gap}`;
    it(`sends ${kind} ${how}, and holds nothing afterwards`, async () => {
      const plain = get(`/plain/${kind}`);
      const limited = get(`/limited/${kind}`);
      await Promise.all([plain.closed, limited.closed]);
      assert.ok(limited.status >= 200, "a response came");
      const expected = gap === null ? plain.received : chunked(plain.received);
      assert.equal(withoutDate(limited.received), withoutDate(expected));
      await rests(stage);
    });
  }

  it("releases once the body of a HEAD request is dropped, also of a stream that would never end", async () => {
    for (const kind of ["text", "idle", "stream"]) {
      const client = get(`/limited/${kind}`, { method: "HEAD" });
      await eventually(() => client.received.includes("\r\n\r\n"), () => client.received);
      assert.equal(client.status, 200);
      await rests(stage);
      client.leave();
      if (kind === "stream") await openDoors(stage);
    }
  });
}

function streamCases(stage: Stage): void {
  const { get } = stage;
  it("holds while a stream runs and releases at its end", async () => {
    const client = get("/limited/stream");
    await eventually(() => client.received.includes("one"), () => client.received);
    const { inUse, held } = await stage.site().state();
    assert.deepEqual([inUse, held], [1, 1]);
    await openDoors(stage);
    await client.closed;
    assert.ok(client.received.includes("two"));
    await rests(stage);
  });

  it("releases when a client leaves a stream, at its next write at the latest", async () => {
    const client = get("/limited/stream");
    await eventually(() => client.received.includes("one"), () => client.received);
    assert.equal(await inUse(stage), 1);
    client.leave();
    await openDoors(stage);
    await rests(stage);
  });

  it("releases when a stream breaks", async () => {
    const client = get("/limited/broken");
    await eventually(() => client.received.includes("hi"), () => client.received);
    assert.equal(await inUse(stage), 1);
    await openDoors(stage);
    await rests(stage);
    client.leave();
  });

  it("takes back the grant of a body that an outer middleware replaced, at the latest after the holding time", async () => {
    const client = get("/replaced/stream");
    await eventually(() => /replaced(\r\n.*)?$/s.test(client.received), () => client.received);
    await stage.site().advance(60_000);
    await get("/limited/text").closed;
    await rests(stage);
    client.leave();
  });
}

/** A client that leaves a stream in which nothing is written. */
function idleCases(stage: Stage, { idleGap }: Platform): void {
  const { get } = stage;
  const leave = async () => {
    const client = get("/limited/idle");
    await eventually(() => client.received.includes("first"), () => client.received);
    assert.equal(await inUse(stage), 1);
    client.leave();
  };
  if (idleGap === null) {
    it("releases when a client leaves an idle stream", async () => {
      await leave();
      await rests(stage);
    });
    return;
  }
  it(`takes back what a client left in an idle stream after the holding time: ${idleGap}`, async () => {
    await leave();
    await stage.site().advance(59_999);
    await get("/limited/text").closed;
    assert.equal(await inUse(stage), 1);
    await stage.site().advance(1);
    await get("/limited/text").closed;
    await rests(stage);
  });
}

function lineCases(stage: Stage): void {
  const { get } = stage;
  const fill = async () => {
    const holders = Array.from({ length: SLOTS }, () => get("/limited/slow"));
    await eventuallyState(stage, ({ atDoor }) => atDoor === SLOTS);
    return holders;
  };

  it("BEY-24 lets a client that goes away leave the line at once, with nothing held", async () => {
    const holders = await fill();
    const client = stage.site().getAndLeave("/limited/text");
    await queues(stage, 1);
    assert.equal(await inUse(stage), SLOTS, "a waiter holds nothing");
    client.leave();
    await queues(stage, 0);
    await openDoors(stage, SLOTS);
    await Promise.all(holders.map((holder) => holder.closed));
    await rests(stage);
  });

  it("serves everybody who waited, but for the one who left", async () => {
    const holders = await fill();
    const waiting: RawClient[] = [];
    for (let i = 1; i <= 5; i++) {
      waiting.push(i === 2 ? stage.site().getAndLeave("/limited/text") : get("/limited/text"));
      await queues(stage, i);
    }
    waiting[1]!.leave();
    await queues(stage, 4);
    await openDoors(stage, SLOTS);
    await Promise.all([...holders, ...waiting].map((client) => client.closed));
    assert.deepEqual(waiting.map((client) => client.status), [200, 0, 200, 200, 200]);
    await rests(stage);
  });

  it("BEY-21 refuses at once what cannot be granted in time, and tells when it can", async () => {
    const first = get("/daily");
    await first.closed;
    assert.equal(first.status, 200);
    const second = get("/daily");
    await second.closed;
    assert.equal(second.status, 500, "the app's error handler was asked");
    const retryAfterS = Number(second.header("retry-after"));
    assert.ok(retryAfterS > 86_300 && retryAfterS <= 86_400, `Retry-After is ${retryAfterS}`);
    assert.equal(second.header("ratelimit-policy"), '"daily";q=1;w=86400');
    assert.equal(second.header("ratelimit"), `"daily";r=0;t=${retryAfterS}`);
  });
}

function socketCases(stage: Stage): void {
  it("keeps the grant of a WebSocket that the app took over until it closes", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${stage.site().port}/ws`);
    await new Promise((resolve) => socket.onopen = resolve);
    assert.equal(await inUse(stage), 1);
    const closed = new Promise((resolve) => socket.onclose = resolve);
    socket.close();
    await closed;
    await rests(stage);
  });
}
