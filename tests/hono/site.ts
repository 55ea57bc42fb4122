// The world of the contract behind a server: in this process, or on workerd.

import { RawClient } from "./raw_client.ts";
import type { HonoServer } from "./servers.ts";
import { makeApp, World, type WorldControl } from "./world.ts";

/** A world that listens. */
export interface Site extends WorldControl {
  readonly port: number;
  /** A client that is going to leave while it waits for a response, in the way in which the platform notices that. */
  getAndLeave(path: string): RawClient;
  close(): Promise<void>;
}

/** Somewhere to open the contract's world. */
export interface Platform {
  readonly name: string;
  readonly hasWebSockets: boolean;
  /** Why nobody notices that a client left a stream in which nothing is written; null where somebody does. */
  readonly idleGap: string | null;
  /** Why a response that was made by hand loses its length when its body is watched; null where it does not. */
  readonly lengthGap: string | null;
  open(): Promise<Site>;
}

/** A server in this process. */
export function platformOf(server: HonoServer): Platform {
  const { name, upgradeWebSocket } = server;
  const open = async (): Promise<Site> => {
    const world = new World();
    const { port, close } = await server.listen(makeApp(world, upgradeWebSocket));
    return {
      port,
      close,
      getAndLeave: (path) => new RawClient(port, path),
      state: () => world.state(),
      openDoors: () => world.openDoors(),
      advance: (ms) => world.advance(ms),
    };
  };
  return { name, hasWebSockets: upgradeWebSocket !== null, idleGap: null, lengthGap: null, open };
}
