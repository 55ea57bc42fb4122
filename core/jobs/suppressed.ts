/**
 * Attaches what went wrong while a job was cleaned up to the error that ends the job, as the array `suppressed`, behind what
 * stands there. An error that takes no property stays as it is: the logger has heard of all of them.
 */
export function attachSuppressed(error: unknown, faults: readonly unknown[]): void {
  if (faults.length === 0 || typeof error !== "object" || error === null) return;
  try {
    const known = (error as { suppressed?: unknown }).suppressed;
    const value = Object.freeze([...Array.isArray(known) ? known : [], ...faults]);
    Object.defineProperty(error, "suppressed", { value, configurable: true, writable: true });
  } catch {
    // Frozen, or a proxy that says no.
  }
}

/** Says what led to an error, where it says nothing of it itself and takes the property. */
export function attachCause(error: Error, cause: unknown): void {
  if (error.cause !== undefined) return;
  try {
    Object.defineProperty(error, "cause", { value: cause, configurable: true, writable: true });
  } catch {
    // Frozen.
  }
}
