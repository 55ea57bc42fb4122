import type { Context, MiddlewareHandler } from "hono";
import { type Admission, type DBResourceProvider, type JobRunner, RetrySignal } from "../../mod.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { show } from "../show.ts";
import { databaseJob, type WithDatabaseOptions } from "./with_database.ts";

/** As `withDatabase`, whose signal is the request's. */
export interface DatabaseMiddlewareOptions<K extends string = "db">
  extends Omit<WithDatabaseOptions, "signal" | "context"> {
  /** The name of the variable; `db` when left out. */
  name?: K;
}

const OPTIONS: OptionNames<DatabaseMiddlewareOptions> = {
  readOnly: true,
  transaction: true,
  demand: true,
  timeoutMs: true,
  workTimeoutMs: true,
  name: true,
};

/** What handlers behind the middleware find: `c.var.db`. */
export interface DatabaseEnv<T, K extends string = "db"> {
  /** As Hono wants it. */
  Variables: { [key in K]: T };
}

/**
 * A Hono middleware: the handlers behind it find a database as `c.var.db`, on a connection that is theirs until they have answered.
 * Then the transaction, where one was asked for, is committed, and the permit released; a request that leaves while it waits, leaves
 * the line.
 *
 * A handler that throws rolls the transaction back, and the app's `onError` has answered it as ever; one that answers an error
 * without throwing commits. The body of the response must not use the database any more: read before you stream. What the
 * middleware itself throws (a TimeoutError, a commit that failed) goes to `onError` as well.
 *
 * @throws TypeError or RangeError when an argument is not as said.
 */
export function database<T, const K extends string = "db">(
  by: Admission | JobRunner,
  provider: DBResourceProvider<T>,
  options: DatabaseMiddlewareOptions<K> = {},
): MiddlewareHandler<DatabaseEnv<T, K>> {
  checkOptionNames("Cannot make a middleware of a database:", options, OPTIONS);
  const job = databaseJob(by, provider, options);
  const { name = "db" as K } = options;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `Cannot make a middleware of a database: name is ${show(name)}, it should be a non-empty string`,
    );
  }
  return async (c, next) => {
    let answered: unknown = NOTHING;
    const work = async (db: T) => {
      // The name is the user's, which the types of a context that is generic in it cannot follow.
      (c as Context).set(name, db);
      await next();
      if (c.error === undefined) return;
      // A request cannot be answered again, so a RetrySignal must not reach the runner.
      answered = c.error instanceof RetrySignal
        ? new Error("the handler threw a RetrySignal", { cause: c.error })
        : c.error;
      throw answered;
    };
    try {
      await job(work, { signal: c.req.raw.signal });
    } catch (error) {
      // What a handler threw was answered where it was thrown.
      if (error !== answered) throw error;
    }
  };
}

/** Nothing was thrown that was answered. */
const NOTHING = Symbol();
