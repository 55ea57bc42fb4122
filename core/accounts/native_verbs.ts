import type { RateLimiter } from "../account.ts";

const VERBS = ["fits", "tryTake", "give", "earliestFit", "accountFor"] as const;

/** Whether an account answers with the very verbs of a built-in class: only then may the kernel answer for it. */
export function usesVerbsOf(account: RateLimiter<never>, prototype: object): boolean {
  const known = prototype as RateLimiter<never>;
  return VERBS.every((verb) => account[verb] === known[verb]) &&
    getterOf(account, "replenishment") === getterOf(prototype, "replenishment");
}

/** The getter that an object answers a property with, its own or inherited; what else is there, or undefined. */
export function getterOf(object: object, name: string): unknown {
  for (let at: object | null = object; at !== null; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found !== undefined) return found.get ?? found;
  }
  return undefined;
}
