/** An option that is not as said. */
export function refused(name: string, value: unknown, better: string): TypeError {
  const shown = typeof value === "object" && value !== null
    ? `an object of class ${value.constructor?.name || "(none)"}`
    : String(value).slice(0, 100);
  return new TypeError(`Cannot make an admitted fetch: ${name} is ${shown}, it should be ${better}`);
}

/** What `make` answers. @throws what it throws, with the option named. */
export function checkedBy<R>(option: string, make: () => R): R {
  try {
    return make();
  } catch (fault) {
    const message = `Cannot make an admitted fetch: ${option} will not do. ${(fault as Error).message}`;
    throw fault instanceof RangeError
      ? new RangeError(message, { cause: fault })
      : new TypeError(message, { cause: fault });
  }
}
