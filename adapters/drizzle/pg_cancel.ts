/** The one thing the types of `pg` do not tell: how a session is told to stop what it runs. */

interface CancelConnection {
  on(event: "connect" | "error", listener: () => void): unknown;
  connect(portOrPath: number | string, host?: string): void;
  cancel(processID: number, secretKey: unknown): void;
}

interface Session {
  readonly connection: { readonly constructor: new (config: object) => CancelConnection };
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: unknown;
}

/**
 * Asks the server to stop what a session runs, over a connection that ends with the request and is no session. Nobody hears of it
 * when it fails: the session then ends with its statement. Without it a statement runs on, with its locks, long after its client
 * has gone: a server looks after its client when it has something to say.
 * Source: https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-CANCELING-REQUESTS
 */
export function cancelStatement(client: object): void {
  if (!isSession(client)) return;
  const { host, port, processID, secretKey } = client;
  try {
    const courier = new client.connection.constructor({});
    courier.on("error", () => {});
    courier.on("connect", () => courier.cancel(processID, secretKey));
    if (host.startsWith("/")) courier.connect(`${host}/.s.PGSQL.${port}`);
    else courier.connect(port, host);
  } catch {
    // As said.
  }
}

function isSession(client: object): client is Session {
  const connection: unknown = Reflect.get(client, "connection");
  return typeof connection === "object" && connection !== null &&
    typeof Reflect.get(connection, "cancel") === "function" &&
    typeof Reflect.get(client, "processID") === "number" && typeof Reflect.get(client, "host") === "string";
}
