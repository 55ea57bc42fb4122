// Database providers that are wrong from acquire to commit.

import type { DatabaseSync } from "node:sqlite";
import { DatabaseGate } from "../../mod.ts";
import { SqliteProvider } from "../sqlite_provider.ts";
import type { Handle, Planted } from "./planted.ts";

const STRANGERS: readonly Planted[] = (["begin", "commit", "awaitCompletion", "rollback", "close"] as const)
  .map(
    (verb) => ({
      habit: `accepts foreign handles in ${verb}()`,
      caught: /^DB-06/,
      make: (...args) => {
        const provider = new SqliteProvider(...args);
        const sound = provider[verb].bind(provider);
        provider[verb] = (handle) =>
          sound(handle).catch((error) => {
            if (!(error instanceof TypeError)) throw error;
          });
        return provider;
      },
    }),
  );

/** Faults of acquire, and of who the provider says it is. */
const ACQUIRING: readonly Planted[] = [
  {
    habit: "has a gate of another size",
    caught: /^DB-01/,
    make: (pool, name, maxConcurrent) => new SqliteProvider(pool, name, maxConcurrent + 1),
  },
  {
    habit: "has a gate of another name",
    caught: /^DB-01/,
    make: (pool, name, maxConcurrent) => new SqliteProvider(pool, `${name}-2`, maxConcurrent),
  },
  {
    habit: "has a new gate each time",
    caught: /^DB-01/,
    make: (...args) =>
      Object.defineProperty(new SqliteProvider(...args), "admission", {
        get: () => new DatabaseGate(args[1], args[2]),
      }),
  },
  {
    habit: "takes a permit of its own",
    caught: /^DB-02 acquire/,
    make: (...args) =>
      new class extends SqliteProvider {
        override async acquire(): Promise<Handle> {
          while (!this.admission.tryTake([undefined], [])) await new Promise((done) => setTimeout(done, 1));
          return await super.acquire();
        }
      }(...args),
  },
  {
    habit: "gives the permit back with the handle",
    caught: /^DB-02 a permit/,
    make: (...args) =>
      new class extends SqliteProvider {
        override async close(handle: Handle): Promise<void> {
          await super.close(handle);
          if (this.admission.currentInUse > 0) this.admission.give([undefined]);
        }
      }(...args),
  },
  {
    habit: "checks out when a transaction begins",
    caught: /^DB-03 acquire/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override checkOut(): DatabaseSync {
          const connection = this.pool.checkOut();
          this.pool.handBack(connection, true);
          return connection;
        }

        protected override beginOn(): void {
          super.beginOn(this.pool.checkOut());
        }
      }(...args),
  },
  {
    habit: "checks two connections out",
    caught: /^DB-13/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override checkOut(readOnly: boolean): DatabaseSync {
          const spare = this.pool.checkOut();
          setTimeout(() => this.pool.handBack(spare, true), 10);
          return super.checkOut(readOnly);
        }
      }(...args),
  },
  {
    habit: "lets the pool's error through",
    caught: /^DB-03 refuses/,
    make: (...args) =>
      new class extends SqliteProvider {
        override acquire(readOnly?: boolean): Promise<Handle> {
          return super.acquire(readOnly).catch((error) => {
            throw error.cause;
          });
        }
      }(...args),
  },
  {
    habit: "keeps the hint to itself",
    caught: /^DB-05/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override checkOut(): DatabaseSync {
          return super.checkOut(false);
        }
      }(...args),
  },
  {
    habit: "leaves the hint on the connection",
    caught: /^DB-05/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override restore(): void {}
      }(...args),
  },
  {
    habit: "unwraps to another object each time",
    caught: /^DB-14/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override stackOf(connection: DatabaseSync): DatabaseSync {
          const get = (target: DatabaseSync, key: keyof DatabaseSync) => {
            const member = target[key];
            return typeof member === "function" ? (member as () => unknown).bind(target) : member;
          };
          return new Proxy(connection, { get: get as never });
        }
      }(...args),
  },
];

/** Faults of transactions. */
const WORKING: readonly Planted[] = [
  {
    habit: "gives the connection back with the commit",
    caught: /^DB-04/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override commitOn(connection: DatabaseSync): void {
          super.commitOn(connection);
          this.pool.handBack(connection, true);
        }
      }(...args),
  },
  {
    habit: "opens no transaction",
    caught: /^DB-07/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override beginOn(): void {}
        protected override commitOn(): void {}
      }(...args),
  },
  {
    habit: "commits a little later",
    caught: /^DB-07/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override commitOn(connection: DatabaseSync): void {
          setTimeout(() => connection.isOpen && connection.isTransaction && super.commitOn(connection), 5);
        }
      }(...args),
  },
  {
    habit: "commits what it should discard",
    caught: /^DB-08/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override rollbackOn(connection: DatabaseSync): void {
          this.commitOn(connection);
        }
      }(...args),
  },
  {
    habit: "cannot discard nothing",
    caught: /^DB-08/,
    make: (...args) =>
      new class extends SqliteProvider {
        override rollback(handle: Handle): Promise<void> {
          return super.rollback(handle).then(() => handle.unwrap().exec("ROLLBACK"));
        }
      }(...args),
  },
  {
    habit: "commits on close",
    caught: /^DB-09 close/,
    make: (...args) =>
      new class extends SqliteProvider {
        override async close(handle: Handle): Promise<void> {
          await this.commit(handle).catch(() => {});
          await super.close(handle);
        }
      }(...args),
  },
  {
    habit: "leaves the transaction open on close",
    caught: /^DB-09 close/,
    make: (...args) =>
      new class extends SqliteProvider {
        protected override rollbackOn(): void {}
      }(...args),
  },
];

/** Every fault of this file. */
export const AT_WORK: readonly Planted[] = [...STRANGERS, ...ACQUIRING, ...WORKING];
