import { show } from "../show.ts";

/** What a pool has to have, for the message when it lacks it. */
export interface PoolShape {
  /** The provider's class. */
  readonly kind: string;
  /** What makes such a pool. */
  readonly wanted: string;
  readonly methods: readonly string[];
}

/** @throws TypeError naming what was given and what would do. */
export function checkPool(pool: unknown, { kind, wanted, methods }: PoolShape): void {
  const what = `Cannot make a ${kind}: pool is`;
  if (isPostgresJs(pool)) {
    throw new TypeError(
      `${what} a client of postgres.js, it should be ${wanted}: when the server ends a connection that postgres.js has reserved, the next statement on it never ends, and no provider could end its handles`,
    );
  }
  const has = (method: string) => typeof Reflect.get(Object(pool), method) === "function";
  if (typeof pool !== "object" || pool === null || !methods.every(has)) {
    throw new TypeError(`${what} ${show(pool)}, it should be ${wanted}`);
  }
  // Clients of pg connect and end as its pools do, but theirs is one connection.
  if (has("escapeLiteral")) throw new TypeError(`${what} a client of pg, it should be ${wanted}`);
  // The callbacks of mysql2; its promises have no such method.
  if (has("promise")) {
    throw new TypeError(`${what} one with callbacks, it should be ${wanted}: pool.promise()`);
  }
}

/** Its clients are functions. Source: https://github.com/porsager/postgres#reserving-connections */
function isPostgresJs(pool: unknown): boolean {
  return typeof pool === "function" && typeof Reflect.get(pool, "reserve") === "function";
}

/** Sizes that explain why a checkout failed. */
export interface CheckoutFacts {
  /** Most connections of the pool, or undefined when it does not say. */
  readonly poolSize: number | undefined;
  /** The provider's bound. */
  readonly bound: number;
}

/** The error of a checkout that failed: the driver's, which some leave without words, and the sizes where they are at fault. */
export function checkoutError(fault: unknown, { poolSize, bound }: CheckoutFacts): unknown {
  const isSmall = poolSize !== undefined && poolSize < bound;
  const text = textOf(fault);
  if (!isSmall && fault instanceof Error && fault.message === text) return fault;
  const sizes = isSmall
    ? `; the pool has at most ${poolSize} connections and the bound is ${bound}, so jobs wait for the pool: the bound should be at most the size of the pool`
    : "";
  return new Error(`${text}${sizes}`, { cause: fault });
}

/** Where a name has several addresses, Node's error has its words in the errors of each. */
function textOf(fault: unknown): string {
  if (fault instanceof Error && fault.message !== "") return fault.message;
  if (fault instanceof AggregateError && fault.errors.length > 0) return fault.errors.map(textOf).join("; ");
  return String(fault);
}

/** What is made of a connection that was checked out; where that throws, the pool has it back. */
export function opened<R>(connection: { release(): void }, open: () => R): R {
  try {
    return open();
  } catch (fault) {
    connection.release();
    throw fault;
  }
}
