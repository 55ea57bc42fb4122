// A client that is nothing but a socket: it can go away whenever it likes, and it sees every byte.

import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";

/** What a request has beyond its path. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request over its own connection, which it closes once it has the whole response: workerd leaves it open for 5 s. */
export class RawClient {
  readonly #socket: Socket;
  readonly closed: Promise<void>;
  /** Resolves with the first byte, or when nothing comes any more. */
  readonly answered: Promise<void>;
  #received = "";

  constructor(port: number, path: string, { method = "GET", headers = {}, body = "" }: RawRequest = {}) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.setEncoding("utf8");
    this.#socket.on("data", (text) => {
      this.#received += text;
      if (isWhole(this.#received, method)) this.#socket.destroy();
    });
    this.#socket.on("error", () => {}); // A reset is one way to be closed.
    this.closed = new Promise((resolve) => this.#socket.on("close", () => resolve()));
    this.answered = new Promise((resolve) => {
      this.#socket.once("data", () => resolve());
      this.#socket.once("close", () => resolve());
    });
    const length: Record<string, string> = body === ""
      ? {}
      : { "content-length": String(Buffer.byteLength(body)) };
    const lines = Object.entries({ host: "localhost", connection: "close", ...length, ...headers });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`);
  }

  /** Everything that came so far, head and body as on the wire. */
  get received(): string {
    return this.#received;
  }

  get status(): number {
    return Number(this.#received.slice(9, 12));
  }

  /** A header of the response, or null. */
  header(name: string): string | null {
    const head = this.#received.split("\r\n\r\n", 1)[0]!.split("\r\n").slice(1);
    const line = head.find((each) => each.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    return line === undefined ? null : line.slice(name.length + 1).trim();
  }

  /** Goes away at once, in the middle of whatever is on its way. */
  leave(): void {
    this.#socket.destroy();
  }
}

/** Whether nothing more can come: by the length that the head tells, or by the last chunk. */
function isWhole(received: string, method: string): boolean {
  const headEnd = received.indexOf("\r\n\r\n") + 4;
  if (headEnd < 4 || received.startsWith("HTTP/1.1 101")) return false;
  const head = received.slice(0, headEnd);
  if (method === "HEAD" || /^HTTP\/1\.1 (204|304)/.test(head)) return true;
  const length = /^content-length: (\d+)\r$/im.exec(head)?.[1];
  if (length !== undefined) return received.length - headEnd >= Number(length);
  return /^transfer-encoding: chunked\r$/im.test(head) && received.endsWith("\r\n0\r\n\r\n");
}

const LIMIT_MS = 10_000;

/** Waits until something holds that sockets bring about; fails with what it was when it does not come. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  what: () => string | Promise<string>,
): Promise<void> {
  const started = performance.now();
  while (!await holds()) {
    if (performance.now() - started > LIMIT_MS) throw new Error(`It never came about: ${await what()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
