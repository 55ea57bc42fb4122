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
  readonly #relays: Relays;
  readonly port: number;

  constructor(worker: RunningWorker) {
    this.#worker = worker;
    this.#relays = new Relays(worker);
    this.port = portOf(worker);
  }

  getAndLeave(path: string): RawClient {
    return this.#relays.open(path, "GET");
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

  async close(): Promise<void> {
    await this.#relays.rest();
    await this.#worker.stop();
  }

  #control(what: string): Promise<WorldState> {
    return askControl(this.#worker, what);
  }
}

/** Where a Worker listens. */
export function portOf({ url }: RunningWorker): number {
  return Number(new URL(url).port);
}

/** What the Worker answers to a door by which it is looked at. `fetch` would meet connections that workerd is closing. */
export async function askControl<T>(worker: RunningWorker, what: string): Promise<T> {
  const client = new RawClient(portOf(worker), `/control/${what}`);
  await client.closed;
  return JSON.parse(client.received.split("\r\n\r\n")[1]!) as T;
}

/** Clients whose requests are cancelled when they leave, by tests/fixtures/workers/relay.ts. */
export class Relays {
  readonly #worker: RunningWorker;
  readonly #departures = new Set<Promise<unknown>>();
  #opened = 0;

  constructor(worker: RunningWorker) {
    this.#worker = worker;
  }

  open(path: string, method: string): RawClient {
    const id = this.#opened++;
    const query = new URLSearchParams({ id: String(id), method, path });
    return new RelayedClient(portOf(this.#worker), `/relay?${query}`, () => this.#sendAway(id));
  }

  /** Resolves when everybody has been sent away who left. */
  async rest(): Promise<void> {
    await Promise.all(this.#departures);
  }

  #sendAway(id: number): void {
    const departure = askControl(this.#worker, `leave?id=${id}`);
    this.#departures.add(departure);
    void departure.then(() => this.#departures.delete(departure));
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
