// The few assertions of the contract suite. It ships, so it may not need a runtime that has node:assert.

/** A promise of an account's contract that does not hold. */
export class ContractError extends Error {
  /** The class's name, also in minified code. */
  override readonly name = "ContractError";
}

/** @throws ContractError saying what does not hold. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new ContractError(what);
}

/** @throws ContractError when the two are not the same value. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!Object.is(actual, expected)) {
    throw new ContractError(`${what}: it is ${String(actual)}, it should be ${String(expected)}`);
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
