// The contract's world in a Worker: a test talks to it over HTTP only.

import { type RunningWorker, startWorker } from "../workerd.ts";
import { RawClient } from "./raw_client.ts";
import type { Platform, Site } from "./site.ts";
import type { WorldState } from "./world.ts";

/** workerd, with the Worker of tests/fixtures/workers/hono_site.ts. */
export const workerdPlatform: Platform = {
  name: "workerd",
  hasWebSockets: true,
  idleGap: "workerd alone goes on with a request whose client left",
  lengthGap: "it tells nobody how long a body is",
  open: async () => {
    const flags = ["enable_request_signal", "nodejs_compat"];
    return new WorkerSite(await startWorker({ path: "tests/fixtures/workers/hono_site.ts", flags }));
  },
};

class WorkerSite implements Site {
  readonly #worker: RunningWorker;
  readonly port: number;
  #relayed = 0;

  constructor(worker: RunningWorker) {
    this.#worker = worker;
    this.port = Number(new URL(worker.url).port);
  }

  /** workerd alone cancels no request of a client that leaves, production does: another request plays that. */
  getAndLeave(path: string): RawClient {
    const id = this.#relayed++;
    return new RelayedClient(this.port, `/relay?id=${id}&path=${encodeURIComponent(path)}`, () => {
      void this.#control(`leave?id=${id}`);
    });
  }

  state(): Promise<WorldState> {
    return this.#control("state");
  }

  async openDoors(): Promise<void> {
    await this.#control("open");
  }

  async advance(ms: number): Promise<void> {
    await this.#control(`advance?ms=${ms}`);
  }

  close(): Promise<void> {
    return this.#worker.stop();
  }

  async #control(what: string): Promise<WorldState> {
    return await (await fetch(`${this.#worker.url}/control/${what}`)).json() as WorldState;
  }
}

class RelayedClient extends RawClient {
  readonly #cancel: () => void;

  constructor(port: number, path: string, cancel: () => void) {
    super(port, path);
    this.#cancel = cancel;
  }

  override leave(): void {
    this.#cancel();
    super.leave();
  }
}
