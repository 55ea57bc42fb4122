// Database providers that are wrong in close and abort, and about those who await completion.

import type { DatabaseSync } from "node:sqlite";
import { SqliteProvider } from "../sqlite_provider.ts";
import { type Handle, type Planted, Remembering } from "./planted.ts";

/** Waits on a latch of its own. Sound as it stands; a fault forgets an ending. */
export class Latched extends SqliteProvider {
  readonly #latches = new Map<Handle, () => void>();
  readonly #waiting = new Map<Handle, Promise<void>>();
  protected forgets = "";

  override async begin(handle: Handle): Promise<void> {
    await super.begin(handle);
    this.#waiting.set(handle, new Promise((resolve) => this.#latches.set(handle, resolve)));
  }

  override async awaitCompletion(handle: Handle): Promise<void> {
    await super.awaitCompletion(handle).then(() => this.#waiting.get(handle));
  }

  override async commit(handle: Handle): Promise<void> {
    try {
      await super.commit(handle);
    } catch (fault) {
      this.#release(handle, "failed commit");
      throw fault;
    }
    this.#release(handle, "commit");
  }

  override async rollback(handle: Handle): Promise<void> {
    await super.rollback(handle);
    this.#release(handle, "rollback");
  }

  override async close(handle: Handle): Promise<void> {
    this.#release(handle, "close");
    await super.close(handle);
  }

  override abort(handle: Handle): void {
    this.#release(handle, "abort");
    super.abort(handle);
  }

  #release(handle: Handle, ending: string): void {
    if (ending !== this.forgets) this.#latches.get(handle)?.();
  }
}

const FORGOTTEN: readonly Planted[] = ["close", "abort", "rollback", "commit", "failed commit"].map((
  ending,
) => ({
  habit: `lets those wait on who await completion beside a ${ending}`,
  caught: ending === "failed commit" ? /^DB-17 a commit that fails/ : /^DB-12 DB-17/,
  make: (...args) =>
    new class extends Latched {
      protected override forgets = ending;
    }(...args),
}));

/** Faults of close and abort. */
const ENDING: readonly Planted[] = [
  {
    habit: "forgets the connection",
    caught: /^DB-09 close/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override handBack(): void {}
      }(...args),
  },
  {
    habit: "forgets a connection whose rollback failed",
    caught: /^DB-19 a rollback/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override handBack(connection: DatabaseSync, isSound: boolean): void {
          if (isSound) super.handBack(connection, isSound);
        }
      }(...args),
  },
  {
    habit: "puts a dead connection back into the pool",
    caught: /^DB-19 a connection/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override handBack(connection: DatabaseSync): void {
          super.handBack(connection, true);
        }
      }(...args),
  },
  {
    habit: "returns the connection at every close",
    caught: /^DB-09 DB-19/,
    make: (...args) =>
      new class extends Remembering {
        readonly #closed = new Set<Handle>();

        override async close(handle: Handle): Promise<void> {
          await super.close(handle);
          const connection = this.connections.get(handle)!;
          if (this.#closed.has(handle) && this.pool.active > 0) this.pool.handBack(connection, true);
          this.#closed.add(handle);
        }
      }(...args),
  },
  {
    habit: "reports the failure of a close again",
    caught: /^DB-19 a connection/,
    make: (...args) =>
      new class extends SqliteProvider {
        readonly #faults = new Map<Handle, unknown>();

        override async close(handle: Handle): Promise<void> {
          if (this.#faults.has(handle)) throw this.#faults.get(handle);
          try {
            await super.close(handle);
          } catch (fault) {
            this.#faults.set(handle, fault);
            throw fault;
          }
        }
      }(...args),
  },
  {
    habit: "only says that it aborts",
    caught: /^DB-10 abort cuts/,
    make: (...args) =>
      new class extends SqliteProvider {
        override abort(): void {}
      }(...args),
  },
  {
    habit: "accepts foreign handles in abort()",
    caught: /^DB-06/,
    make: (...args) =>
      new class extends Remembering {
        override abort(handle: Handle): void {
          if (this.connections.has(handle)) super.abort(handle);
        }
      }(...args),
  },
  {
    habit: "commits before it aborts",
    caught: /^DB-10 abort cuts/,
    make: (...args) =>
      new class extends Remembering {
        override abort(handle: Handle): void {
          const connection = this.connections.get(handle);
          if (connection?.isOpen && connection.isTransaction) connection.exec("COMMIT");
          super.abort(handle);
        }
      }(...args),
  },
  {
    habit: "cannot abort twice",
    caught: /^DB-10 abort cuts/,
    make: (...args) =>
      new class extends Remembering {
        override abort(handle: Handle): void {
          this.connections.get(handle)?.close();
          super.abort(handle);
        }
      }(...args),
  },
  {
    habit: "answers an abort with a promise to wait for",
    caught: /^DB-10 abort cuts/,
    make: (...args) =>
      new class extends SqliteProvider {
        override async abort(handle: Handle): Promise<void> {
          await Promise.resolve();
          super.abort(handle);
        }
      }(...args),
  },
  {
    habit: "never ends a commit that is cut",
    caught: /^DB-10 abort beside/,
    make: (...args) =>
      new class extends SqliteProvider {
        override commit(handle: Handle): Promise<void> {
          return super.commit(handle).catch(() => new Promise<void>(() => {}));
        }
      }(...args),
  },
  {
    habit: "cuts whoever has the connection after a close",
    caught: /^DB-09 DB-19/,
    make: (...args) =>
      new class extends Remembering {
        override abort(handle: Handle): void {
          const connection = this.connections.get(handle);
          if (connection?.isOpen) connection.close();
        }
      }(...args),
  },
  {
    habit: "fails a close after an abort with any error",
    caught: /^DB-11/,
    make: (...args) =>
      new class extends SqliteProvider {
        readonly #aborted = new Set<Handle>();

        override abort(handle: Handle): void {
          super.abort(handle);
          this.#aborted.add(handle);
        }

        override async close(handle: Handle): Promise<void> {
          await super.close(handle);
          if (this.#aborted.has(handle)) throw new Error("the connection is gone");
        }
      }(...args),
  },
  {
    habit: "thinks that an abort is a close",
    caught: /^DB-11/,
    make: (...args) =>
      new class extends SqliteProvider {
        readonly #aborted = new Set<Handle>();

        override abort(handle: Handle): void {
          super.abort(handle);
          this.#aborted.add(handle);
        }

        override async close(handle: Handle): Promise<void> {
          if (!this.#aborted.has(handle)) await super.close(handle);
        }
      }(...args),
  },
];

/** Every fault of this file. */
export const AT_THE_END: readonly Planted[] = [...ENDING, ...FORGOTTEN];
