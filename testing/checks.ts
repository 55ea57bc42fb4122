// The few assertions of the contract suite. It ships, so it may not need a runtime that has node:assert.

/** A promise of an account's contract that does not hold. */
export class ContractError extends Error {
  /** The class's name, also in minified code. */
  override readonly name = "ContractError";
}

/** A value for a message. */
export function shown(value: unknown): string {
  if (typeof value !== "function") return typeof value === "string" ? JSON.stringify(value) : String(value);
  const isClass = Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
  return `${isClass ? "the class" : "function"} ${value.name || "(anonymous)"}`;
}

/** @throws TypeError when a suite is given no test runner. */
export function checkRunner(suite: string, runner: unknown): void {
  const { describe, it } = (runner ?? {}) as { describe?: unknown; it?: unknown };
  if (typeof describe === "function" && typeof it === "function") return;
  throw new TypeError(
    `Cannot run ${suite}: the runner is ${
      shown(runner)
    }, it should be { describe, it } of a test runner such as node:test`,
  );
}

/** @throws ContractError saying what does not hold. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new ContractError(what);
}

/** @throws ContractError when the two are not the same value. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!Object.is(actual, expected)) {
    throw new ContractError(`${what}: it is ${shown(actual)}, it should be ${shown(expected)}`);
  }
}

/** @throws ContractError when the call does not throw an error of that class. */
export function refuses(call: () => unknown, type: new (...args: never[]) => Error, what: string): void {
  try {
    call();
  } catch (error) {
    if (error instanceof type) return;
    throw new ContractError(`${what}: it threw ${String(error)}, it should throw a ${type.name}`);
  }
  throw new ContractError(`${what}: it threw nothing, it should throw a ${type.name}`);
}

/** @throws ContractError when the call neither throws nor rejects, or not with an error of that class. */
export async function rejects(
  call: () => unknown,
  type: new (...args: never[]) => Error,
  what: string,
): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (error instanceof type) return;
    throw new ContractError(`${what}: it failed with ${String(error)}, it should fail with a ${type.name}`);
  }
  throw new ContractError(`${what}: it succeeded, it should fail with a ${type.name}`);
}

/** What the promise brings, if it does within `limitMs`. @throws ContractError when it does not. */
export async function within<R>(limitMs: number, promise: PromiseLike<R>, what: string): Promise<R> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const fault = new ContractError(`${what}: nothing came within ${limitMs} ms`);
    timer = setTimeout(() => reject(fault), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
