/** Errors of the base class for providers: their messages name the provider and the verb. */
const faults = new WeakSet<Error>();

/** Remembers the error as one of a provider. */
export function providerFault<E extends Error>(error: E): E {
  faults.add(error);
  return error;
}

/** Whether a message says already what failed, and on which provider. */
export function isProviderFault(fault: unknown): fault is Error {
  return fault instanceof Error && faults.has(fault);
}
