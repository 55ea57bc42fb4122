import type { BusyRetry } from "./busy.ts";
import type { OpenSqlite, SqliteDatabase } from "./sqlite_module.ts";

/** Which database, and how each connection to it is prepared. */
export interface SqlitePlace {
  /** A path, or `:memory:`. */
  readonly file: string;
  /** SQL that each connection runs once; may be empty. */
  readonly setUp: string;
}

/** The connections to one database: opened when they are needed, kept while they are sound. */
export class SqlitePool {
  readonly #open: OpenSqlite;
  readonly #place: SqlitePlace;
  readonly #busy: BusyRetry;
  readonly #location: string;
  readonly #idle: SqliteDatabase[] = [];
  /** A database in memory lives as long as a connection to it. */
  #anchor: SqliteDatabase | null = null;
  #out = 0;
  #isEnded = false;

  constructor(open: OpenSqlite, place: SqlitePlace, busy: BusyRetry) {
    this.#open = open;
    this.#place = place;
    this.#busy = busy;
    this.#location = this.#isInMemory ? memoryLocation() : place.file;
  }

  /** Connections that are out now. */
  get out(): number {
    return this.#out;
  }

  /** Takes one out. @throws Error when the pool has ended or that many are out; what SQLite throws. */
  async take(most: number): Promise<SqliteDatabase> {
    if (this.#isEnded) throw new Error("the provider has ended");
    if (this.#out >= most) {
      throw new Error(`all ${most} connections are out, acquire only under a permit of the provider's gate`);
    }
    this.#out++;
    try {
      return this.#idle.pop() ?? await this.#connect();
    } catch (fault) {
      this.#out--;
      throw fault;
    }
  }

  /** Takes one back, to be used again or closed. */
  giveBack(database: SqliteDatabase, isSound: boolean): void {
    this.#out--;
    if (!database.isOpen) return;
    if (isSound && !this.#isEnded) this.#idle.push(database);
    else database.close();
  }

  /** Closes what is idle; what is out is closed when it comes back. */
  end(): void {
    this.#isEnded = true;
    for (const database of this.#idle.splice(0)) database.close();
    this.#anchor?.close();
    this.#anchor = null;
  }

  get #isInMemory(): boolean {
    return this.#place.file === ":memory:";
  }

  #openAnchor(): SqliteDatabase {
    try {
      return this.#open(this.#location);
    } catch (fault) {
      if (!("Deno" in globalThis)) throw fault;
      throw new Error(
        "a shared database in memory needs all permissions on Deno (-A), which takes its name for a path otherwise",
        { cause: fault },
      );
    }
  }

  async #connect(): Promise<SqliteDatabase> {
    if (this.#isInMemory) this.#anchor ??= this.#openAnchor();
    const database = this.#open(this.#location);
    try {
      const { setUp } = this.#place;
      if (!this.#isInMemory) await this.#busy.run(() => useWriteAheadLog(database));
      if (setUp !== "") await this.#busy.run(() => database.exec(setUp));
    } catch (fault) {
      database.close();
      throw fault;
    }
    return database;
  }
}

/** Readers see the last commit while somebody writes. The file remembers it. @throws Error where the file cannot have one. */
function useWriteAheadLog(database: SqliteDatabase): void {
  const statement = database.prepare("PRAGMA journal_mode = WAL");
  statement.setReturnArrays(true);
  const [mode] = statement.get() as [string];
  if (mode !== "wal") throw new Error(`the file cannot be used with a write-ahead log, its mode is ${mode}`);
}

/**
 * A database in memory that several connections share. The shared cache of SQLite would do the same, but on Deno 2.9 a statement
 * that meets a lock in it never returns (docs/decisions/0104).
 */
function memoryLocation(): string {
  return `file:/${crypto.randomUUID()}?vfs=memdb`;
}
