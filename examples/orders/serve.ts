/** A server that listens on this machine. */
export interface Server {
  readonly port: number;
  /** Takes no more requests, and resolves when those that run are answered. */
  close(): Promise<void>;
}

type Handler = (request: Request) => Response | Promise<Response>;

/** As much of the two runtimes as is used here. */
interface Runtimes {
  readonly Deno?: {
    serve(options: { hostname: string; port: number; onListen(): void }, handler: Handler): {
      readonly addr: { readonly port: number };
      shutdown(): Promise<void>;
    };
  };
  readonly Bun?: {
    serve(options: { hostname: string; port: number; fetch: Handler }): {
      readonly port: number;
      stop(): Promise<void>;
    };
  };
}

/** Serves on a port of 127.0.0.1, 0 for a free one. On Node use `@hono/node-server`. */
export function serve(port: number, handler: Handler): Server {
  const { Deno, Bun } = globalThis as Runtimes;
  const hostname = "127.0.0.1";
  if (Deno !== undefined) {
    const server = Deno.serve({ hostname, port, onListen: () => {} }, handler);
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  if (Bun === undefined) throw new Error("Cannot serve: this runtime is neither Deno nor Bun");
  const server = Bun.serve({ hostname, port, fetch: handler });
  return { port: server.port, close: () => server.stop() };
}
