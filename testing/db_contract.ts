import type { DBResourceProvider } from "../mod.ts";
import type { TestRunner } from "./contract.ts";
import { checkRunner } from "./checks.ts";
import { commonCases } from "./db_contract_common.ts";
import { countingCases } from "./db_contract_counting.ts";
import { holdingCases } from "./db_contract_holding.ts";

/** A fresh provider over a fresh pool and an empty table, with what the suite has to see and do beside it. */
export interface DBContractSubject<T> {
  /** What is tested. */
  readonly provider: DBResourceProvider<T>;
  /** Connections that are out of the pool now, 0 at first. What `committedRows` uses does not count. */
  activeConnections(): number | Promise<number>;
  /** Rows in the table as another connection sees them, 0 at first. */
  committedRows(): number | Promise<number>;
  /** Closes what was opened; called at the end of each case, also of one that failed. */
  dispose?(): void | Promise<void>;
}

/** For a provider whose handles hold a connection. `stack` is what a handle unwraps to. */
export interface DBHoldingSubject<T> extends DBContractSubject<T> {
  /** Inserts one row. Where the database has one writer at a time it waits for its turn, without blocking the event loop. */
  insertRow(stack: T): void | Promise<void>;
  /** Whether the connection was told that it is only read from. */
  isReadOnly(stack: T): boolean | Promise<boolean>;
  /** Makes the connection die, as when its server ends it: resolves when everything on it fails. */
  breakConnection(stack: T): void | Promise<void>;
  /** Makes every later checkout fail. */
  endPool(): void | Promise<void>;
}

/** For a provider that only counts: its jobs use the host's pool themselves. */
export interface DBCountingSubject extends DBContractSubject<null> {
  /** As a job would: takes a connection out of the pool, inserts a row, awaits `whileOut`, commits and gives it back. */
  useConnection(whileOut: () => Promise<void>): Promise<void>;
}

/** How the suite gets at a provider whose handles hold a connection. */
export interface DBHoldingHarness<T> {
  /** Heads the suite. */
  readonly name: string;
  /** Tells the two kinds apart. */
  readonly holdsConnections: true;
  /** How long something may take that has to happen promptly, in ms; 5,000 when left out. */
  readonly patienceMs?: number;
  /** A subject of its own for each call, over a pool of at least `maxConcurrent` connections. */
  open(name: string, maxConcurrent: number): DBHoldingSubject<T> | Promise<DBHoldingSubject<T>>;
}

/** How the suite gets at a provider that only counts. */
export interface DBCountingHarness {
  /** Heads the suite. */
  readonly name: string;
  /** Tells the two kinds apart. */
  readonly holdsConnections: false;
  /** How long something may take that has to happen promptly, in ms; 5,000 when left out. */
  readonly patienceMs?: number;
  /** A subject of its own for each call, over a pool of more than `maxConcurrent` connections. */
  open(name: string, maxConcurrent: number): DBCountingSubject | Promise<DBCountingSubject>;
}

/** How the suite gets at a provider. */
export type DBContractHarness<T> = DBHoldingHarness<T> | DBCountingHarness;

const PATIENCE_MS = 5_000;
/** The bound of every subject. */
const BOUND = 2;

/**
 * What every database provider promises, as tests for the author of one, to be run on a real pool and a real database. The
 * titles name the rules of docs/rules.md.
 *
 * @throws TypeError when the runner lacks `describe` or `it`.
 */
export function dbResourceProviderContract<T>(runner: TestRunner, harness: DBContractHarness<T>): void {
  checkRunner("dbResourceProviderContract", runner);
  const { patienceMs = PATIENCE_MS } = harness;
  runner.describe(`${harness.name}, as a database provider`, () => {
    if (harness.holdsConnections) {
      const cases = casesOf(runner, harness);
      commonCases(cases, patienceMs);
      holdingCases(cases, patienceMs);
    } else {
      const cases = casesOf(runner, harness);
      commonCases(cases, patienceMs);
      countingCases(cases, patienceMs);
    }
  });
}

/** Adds cases to a suite, each with a subject of its own of the bound 2, and the means to open another. */
export interface SubjectCases<S> {
  it(title: string, body: (subject: S, openAnother: (name: string) => Promise<S>) => Promise<void>): void;
}

function casesOf<S extends { dispose?(): void | Promise<void> }>(
  runner: TestRunner,
  harness: { open(name: string, maxConcurrent: number): S | Promise<S> },
): SubjectCases<S> {
  return {
    it: (title, body) =>
      runner.it(title, async () => {
        const opened: S[] = [];
        const open = async (name: string) => {
          const subject = await harness.open(name, BOUND);
          opened.push(subject);
          return subject;
        };
        try {
          await body(await open("contract"), open);
        } finally {
          for (const subject of opened.toReversed()) await subject.dispose?.();
        }
      }),
  };
}
