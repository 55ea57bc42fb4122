/** Who hears of a signal's abort. However many do, it carries one listener: runtimes warn at the eleventh. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `fn` once when the signal aborts, at once when it has. Answers a function that takes `fn` back. `fn` must not throw. */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  if (signal.aborted) {
    fn();
    return () => {};
  }
  const all = listeners.get(signal) ?? listenTo(signal);
  // Two calls may hand in the same function.
  const listener = () => fn();
  all.add(listener);
  return () => {
    if (all.delete(listener) && all.size === 0) stopListening(signal);
  };
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const all = new Set<() => void>();
  listeners.set(signal, all);
  signal.addEventListener("abort", hear);
  return all;
}

function stopListening(signal: AbortSignal): void {
  listeners.delete(signal);
  signal.removeEventListener("abort", hear);
}

function hear(event: Event): void {
  const signal = event.target as AbortSignal;
  const all = [...listeners.get(signal) ?? []];
  stopListening(signal);
  for (const listener of all) listener();
}
