// Signals that count the listeners on them, and the warnings that a runtime raises about too many.

import process from "node:process";

/** What happened to a signal's listeners so far. */
export interface ListenerCounts {
  added: number;
  removed: number;
}

/** A controller whose signal counts. */
export function countedSignal(): {
  controller: AbortController;
  signal: AbortSignal;
  counts: ListenerCounts;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const counts = { added: 0, removed: 0 };
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: unknown[]) => {
    counts.added++;
    Reflect.apply(addEventListener, signal, args);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    counts.removed++;
    Reflect.apply(removeEventListener, signal, args);
  };
  return { controller, signal, counts };
}

/** Warnings that the runtime raises while something happens. */
export async function warningsOf(happens: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const hear = (warning: Error) => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on("warning", hear);
  await happens();
  await new Promise((resolve) => void setTimeout(resolve, 0));
  process.off("warning", hear);
  return warnings;
}
