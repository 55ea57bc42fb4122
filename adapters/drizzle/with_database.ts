import {
  Admission,
  type DatabaseUse,
  type DBResourceProvider,
  type Demand,
  type Grant,
  type JobOptions,
  JobRequirements,
  JobRunner,
} from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { show } from "../show.ts";

/** How a piece of work uses a database, what else it needs, and when it gives up. */
export interface WithDatabaseOptions extends DatabaseUse, Pick<JobOptions, "signal" | "context"> {
  /** What the work needs beside its connection: it is admitted with it, whole. */
  demand?: Demand;
  /** How long it may wait for admission, in ms, as in `admit`; without end when left out. */
  timeoutMs?: number;
  /**
   * How long it may take from its grant until its connection is back, in ms, above 0; without end when left out. A signal aborts
   * what waits only: this is what ends work that runs.
   */
  workTimeoutMs?: number;
}

const OPTIONS: OptionNames<WithDatabaseOptions> = {
  readOnly: true,
  transaction: true,
  signal: true,
  context: true,
  demand: true,
  timeoutMs: true,
  workTimeoutMs: true,
};

/** What is done with a database. It leaves the closing and the transactions to the provider, and keeps `db` no longer than it runs. */
export type DatabaseWork<T, R> = (db: T, grant: Grant) => R | PromiseLike<R>;

/** Beyond any time that a program runs. */
const NO_LIMIT_MS = Number.MAX_VALUE;

const runners = new WeakMap<Admission, JobRunner>();

/**
 * Works with a database under its permit, and answers what the work answers. The permit and `demand` are admitted as one; then a
 * connection is acquired, a transaction begun if asked for, the work done, the transaction committed (rolled back when the work
 * throws), the connection closed and the permits released: in this order, whatever happens on the way.
 *
 * It is a job of a JobRunner, and rejects with what that rejects with: what the work throws as it is; `signal.reason` when aborted
 * before the work; TimeoutError after `timeoutMs`; JobTimeoutError after `workTimeoutMs`; UncorrectableError when the provider failed.
 * Work that throws a RetrySignal is done again, on another connection.
 *
 * @param by whose line it waits in: an Admission, or the program's JobRunner, whose clock and limits of retries then count.
 */
export async function withDatabase<T, R>(
  by: Admission | JobRunner,
  provider: DBResourceProvider<T>,
  work: DatabaseWork<T, R>,
  options: WithDatabaseOptions = {},
): Promise<R> {
  checkOptionNames("Cannot work with a database:", options, OPTIONS);
  return await databaseJob(by, provider, options)(work, options);
}

/** The part of `withDatabase` that is the same each time. @throws TypeError or RangeError when an argument is not as said. */
export function databaseJob<T>(
  by: Admission | JobRunner,
  provider: DBResourceProvider<T>,
  options: Omit<WithDatabaseOptions, "signal" | "context">,
): <R>(work: DatabaseWork<T, R>, of: Pick<JobOptions, "signal" | "context">) => Promise<R> {
  const { demand, timeoutMs, workTimeoutMs = NO_LIMIT_MS, readOnly = false, transaction = false } = options;
  const runner = runnerOf(by);
  const requirements = new JobRequirements({ timeoutMs: workTimeoutMs });
  requirements.database(provider, { readOnly, transaction });
  if (demand !== undefined) requirements.include(demand);
  const admit = timeoutMs === undefined ? {} : { timeoutMs };
  return async (work, { signal, context }) => {
    if (typeof work !== "function") {
      throw new TypeError(
        `Cannot work with a database: work is ${show(work)}, it should be a function of a database`,
      );
    }
    return await runner.run(requirements, (scope) => work(scope.resource(provider).unwrap(), scope.grant), {
      admit,
      ...(signal === undefined ? {} : { signal }),
      ...(context === undefined ? {} : { context }),
    });
  };
}

/** One runner for each Admission: a runner has accounts of its own. @throws TypeError when it is neither. */
function runnerOf(by: Admission | JobRunner): JobRunner {
  if (by instanceof JobRunner) return by;
  if (!(by instanceof Admission)) {
    throw new TypeError(
      `Cannot work with a database: by, the first argument, is ${
        show(by)
      }, it should be an Admission or a JobRunner; the provider comes second`,
    );
  }
  const known = runners.get(by);
  if (known !== undefined) return known;
  const runner = new JobRunner(by);
  runners.set(by, runner);
  return runner;
}
