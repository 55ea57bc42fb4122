const OPENING = /^\s{0,100}(?:begin|start\s{1,100}transaction)\b/i;

/**
 * The statements on one connection while a handle has it: the job's, which are refused once the handle has ended, and the
 * provider's own. Nobody who waits for one depends on its driver: a statement that is cut fails at once, whatever the server does.
 */
export class Statements {
  /** Whether the provider's transaction may be open. */
  isInTransaction = false;
  #refusal: Error | null = null;
  readonly #waiting = new Set<(fault: Error) => void>();
  readonly #running = new Set<Promise<void>>();

  /** Whether the driver has not answered one yet. */
  get areRunning(): boolean {
    return this.#running.size > 0;
  }

  /** Resolves when the driver has answered all that were sent. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /**
   * Sends one of the job's; `text` is its SQL. @throws what `refuse` or `cut` was given, and when it would open a transaction in the
   * provider's: no server nests them, MySQL commits the open one, and the job's own commit would end it on both.
   */
  ofJob<R>(send: () => R | PromiseLike<R>, text: string): Promise<R> {
    if (this.#refusal !== null) throw this.#refusal;
    if (this.isInTransaction && OPENING.test(text)) {
      throw new Error(
        "a transaction of the provider's is open: work in it, or with savepoints, or ask the provider for none",
      );
    }
    return this.own(send);
  }

  /** Sends one of the provider's. */
  own<R>(send: () => R | PromiseLike<R>): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.add(reject);
      // It is sent at once, and what it throws is a rejection like any other.
      const answer = (async () => await send())();
      const running = answer.then(resolve, reject).then(() => {
        this.#waiting.delete(reject);
        this.#running.delete(running);
      });
      this.#running.add(running);
    });
  }

  /** From now on the job's statements fail with this; those that run go on. */
  refuse(reason: Error): void {
    this.#refusal ??= reason;
  }

  /** The same, and those that run fail as well. */
  cut(reason: Error): void {
    this.#refusal = reason;
    for (const reject of this.#waiting) reject(reason);
    this.#waiting.clear();
  }
}

/** Which methods of a driver's connection the job may not call, and which go through its statements. */
export interface JobMethods {
  readonly sending: readonly string[];
  readonly forbidden: readonly string[];
  /** Sends what one of `sending` was asked for; the SQL is empty where the driver's argument does not show it. */
  send(call: () => unknown, text: string): unknown;
}

/**
 * A connection as a job may have it: everything as it is, but its statements end with the handle, and its end is not the job's to
 * bring about. So a job that still runs after its time limit cannot write on the next one's connection.
 */
export function connectionForJob<C extends object>(connection: C, methods: JobMethods): C {
  return new Proxy(connection, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (methods.forbidden.includes(String(name))) {
        return () => {
          throw new TypeError(
            `Cannot ${String(name)}() a connection of a handle: its provider does, close the handle instead`,
          );
        };
      }
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (!methods.sending.includes(String(name))) return call;
      return (...args: unknown[]) => methods.send(() => call(...args), textOf(args[0]));
    },
  });
}

/** Drivers take SQL as it is, or in an object. */
function textOf(statement: unknown): string {
  if (typeof statement === "string") return statement;
  const { text, sql } = Object(statement) as { text?: unknown; sql?: unknown };
  const found = text ?? sql;
  return typeof found === "string" ? found : "";
}
