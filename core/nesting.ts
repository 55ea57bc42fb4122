import { CountingGate } from "./accounts/counting_gate.ts";
import type { DemandSnapshot, Entry } from "./entry.ts";
import { NestedDemandError } from "./errors.ts";
import type { Grant } from "./grant.ts";
import { show } from "./invariant.ts";
import type { Logger } from "./logger.ts";

/** Work that runs inside `run`, and the work around it. */
interface Ancestor {
  demand: DemandSnapshot;
  grant: Grant;
  outer: Ancestor | null;
}

/** What an admission does about nested demands. */
interface NestingRules {
  readonly nested: "refuse" | "warn" | "off";
  readonly logger: Logger;
}

/** As much of Node's AsyncLocalStorage as is needed. */
interface Storage {
  getStore(): Ancestor | undefined;
  run<R>(store: Ancestor, work: () => R): R;
}

/** Null where the runtime has none: nesting is not looked for there. */
const storage: Storage | null = findStorage();
let running = 0;

function findStorage(): Storage | null {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as
    | { AsyncLocalStorage?: new () => Storage }
    | undefined;
  return hooks?.AsyncLocalStorage === undefined ? null : new hooks.AsyncLocalStorage();
}

/** Runs work as a descendant of the work around it. */
export async function runNested<R>(demand: DemandSnapshot, grant: Grant, work: () => R): Promise<Awaited<R>> {
  if (storage === null) return await work();
  running++;
  try {
    return await storage.run({ demand, grant, outer: storage.getStore() ?? null }, work);
  } finally {
    running--;
  }
}

/** Whether any work runs inside `run` now: without it there is nothing to look for. */
export function isNesting(): boolean {
  return running > 0;
}

/**
 * Looks for a gate on which the demand and what its ancestors hold exceed the capacity: the ancestors wait for this work and
 * it would wait for them. Work that is `detached` is waited for by nobody.
 *
 * @throws NestedDemandError when there is one and the admission refuses nested demands.
 */
export function checkNesting(
  { nested, logger }: NestingRules,
  demand: DemandSnapshot,
  detached: boolean | undefined,
): void {
  if (nested === "off" || detached === true) return;
  const ancestor = storage?.getStore() ?? null;
  if (ancestor === null) return;
  for (const entry of demand.entries) {
    const error = nestedOn(entry, ancestor);
    if (error === null) continue;
    if (nested === "refuse") throw error;
    logger.warn(error.message, { account: error.account, ancestors: error.ancestors });
  }
}

function nestedOn(entry: Entry, innermost: Ancestor): NestedDemandError | null {
  if (!(entry.limiter instanceof CountingGate)) return null;
  const { capacity, limiterName: account } = entry.limiter;
  const ancestors: string[] = [];
  let held = 0;
  for (let at: Ancestor | null = innermost; at !== null; at = at.outer) {
    const theirs = at.grant.isSettled
      ? undefined
      : at.demand.entries.find((each) => each.limiter === entry.limiter);
    if (theirs === undefined) continue;
    held += theirs.count;
    ancestors.unshift(`${account} x ${theirs.count}`);
  }
  if (held === 0 || entry.count > capacity || held + entry.count <= capacity) return null;
  const message =
    `Cannot admit: ${entry.count} more of ${
      show(account)
    } is asked inside run() while the work around it holds ` +
    `${held} of ${capacity}, so both would wait for ever. Ask for everything at once, raise the capacity, ` +
    `or pass { detached: true } if nobody waits for this work.`;
  return new NestedDemandError(message, { account, ancestors });
}
