import type { Context, MiddlewareHandler } from "hono";
import { createMiddleware } from "hono/factory";
import { HTTPException } from "hono/http-exception";
import { type Admission, AdmissionError, Demand, type Grant } from "../../mod.ts";
import { type Hold, Holds } from "./holds.ts";
import { type CheckedOptions, checkOptions, type HonoAdmitOptions, type SkipTest } from "./options.ts";
import type { Field } from "./rate_limit_fields.ts";
import { limitFields, problemResponse, refusalFields, shortNow } from "./refusal_response.ts";
import { refusalOf } from "./refusals.ts";
import { endWithResponse, WholeResponse } from "./response_end.ts";

/** What can be asked of a middleware that admits. */
export interface AdmitControls {
  /** Who admits: for `drain`, `stop`, `waiters` and `explain`. */
  readonly admission: Admission;
  /** How many requests hold a grant now. */
  readonly heldCount: number;
  /**
   * Takes over a grant beyond the end of its response, for a WebSocket or for work in the background. Answers the function
   * that ends it, once; `maxHoldMs` still counts. For a request without a grant it does nothing.
   */
  keep(c: Context): () => void;
}

/** A middleware that admits. `Kept` is what stands in its variable. */
export type AdmitMiddleware<Name extends string = "grant", Kept = Grant> =
  & MiddlewareHandler<{ Variables: Record<Name, Kept> }>
  & AdmitControls;

/** What a request that nobody waits for any more is answered: nginx's code for a client that closed its connection. */
const CLIENT_GONE = 499;
const NO_FIELDS: readonly Field[] = [];

type Variables = { Variables: Record<string, Grant | undefined> };

/**
 * Admits each request before the rest of its chain runs, or refuses it. While a request waits it holds nothing, and it leaves
 * the line at once when its client goes away. The grant stands in `c.var.grant`; it is released once, when the response is
 * over: a body that is there as a whole when it is handed over, a stream at its end, error or cancellation, HEAD and empty
 * bodies at once. Mount it outside of other middlewares, so that the body it sees is the one that is sent.
 *
 * A refusal is thrown as an HTTPException with the error as its cause. Its response has `Retry-After`, the RateLimit fields
 * and a problem document: 429 when a quota is used up, 503 when there is no room, 402 and 422 for errors that say so. A demand
 * that can never be granted, a wrong state or a demand function that throws is thrown as it is.
 *
 * @throws TypeError or RangeError naming the option, its value and what would do.
 */
export function admit<Name extends string = "grant">(
  options: HonoAdmitOptions<Name> & { skip: SkipTest },
): AdmitMiddleware<Name, Grant | undefined>;
/** The same without `skip`: every request has a grant. */
export function admit<Name extends string = "grant">(
  options: HonoAdmitOptions<Name> & { skip?: never },
): AdmitMiddleware<Name>;
export function admit(options: HonoAdmitOptions<string>): MiddlewareHandler & AdmitControls {
  const checked = checkOptions(options);
  const { skip, name, clock, maxHoldMs, logger } = checked;
  const holds = new Holds(clock, maxHoldMs, logger);
  const middleware = createMiddleware<Variables>(async (c, next) => {
    if (skip !== null && await skip(c)) return await next();
    const nowMs = holds.sweep();
    let demand: Demand | null = null;
    let hold: Hold;
    try {
      const asked = typeof checked.demand === "function" ? checked.demand(c) : checked.demand;
      demand = asked instanceof Demand ? asked : await asked;
      const grant = checked.admission().tryAdmit(demand);
      hold = grant !== null ? holds.open(grant, nowMs) : holds.open(await waitForGrant(c, demand, checked));
    } catch (error) {
      return await refuse(c, error, { demand, checked });
    }
    c.set(name, hold.grant);
    try {
      const whole = new WholeResponse(c);
      const limits = checked.headersOnSuccess ? limitFields(demand, checked.form) : NO_FIELDS;
      for (const [field, value] of limits) c.header(field, value);
      await next();
      if (limits.length > 0) tellLate(c, limits, whole);
      if (!hold.isKept) endWithResponse(c, hold, whole);
    } catch (error) {
      hold.end();
      throw error;
    }
  });
  return Object.defineProperties(middleware, {
    admission: { get: checked.admission },
    heldCount: { get: () => holds.heldCount },
    keep: { value: (c: Context<Variables>) => holds.keep(c.get(name)) },
  }) as MiddlewareHandler & AdmitControls;
}

/** Thrown when a client went away while its request waited. */
const CLIENT_LEFT: unique symbol = Symbol("client left");

/** Waits in line. The request's signal costs something, so it is read here only. */
async function waitForGrant(c: Context, demand: Demand, checked: CheckedOptions): Promise<Grant> {
  const { signal } = c.req.raw;
  try {
    return await checked.admission().admit(demand, { ...checked.wait, signal });
  } catch (error) {
    throw signal.aborted && error === signal.reason ? CLIENT_LEFT : error;
  }
}

/** A response that a handler made without the context has none of the context's headers. */
function tellLate(c: Context, limits: readonly Field[], whole: WholeResponse): void {
  if (!c.finalized || whole.is(c.res) || limits.some(([name]) => c.res.headers.has(name))) return;
  for (const [name, value] of limits) c.header(name, value);
}

/** Answers a refusal as the app's hook does, or throws it to the app's error handler. Anything else is thrown on. */
async function refuse(
  c: Context,
  error: unknown,
  { demand, checked }: { demand: Demand | null; checked: CheckedOptions },
): Promise<Response> {
  if (error === CLIENT_LEFT) return new Response(null, { status: CLIENT_GONE });
  if (!(error instanceof AdmissionError)) throw error;
  const refusal = refusalOf(
    error,
    demand,
    () => demand === null ? [] : shortNow(demand, checked.admission()),
  );
  const fields = refusal === null ? NO_FIELDS : refusalFields(refusal, demand, checked.form);
  for (const [name, value] of fields) c.header(name, value);
  const answer = await checked.onRefused?.(c, error);
  if (answer) return answer;
  if (refusal === null) throw error;
  const { status, title } = refusal.problem;
  throw new HTTPException(status, { message: title, cause: error, res: problemResponse(refusal, fields) });
}
