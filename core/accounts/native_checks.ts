import { type Clock, isClock } from "../clock.ts";
import { InvalidStateError } from "../errors.ts";
import { show } from "../invariant.ts";

/** @throws TypeError when the name is not a non-empty string or the clock is not a Clock. */
export function checkMaking(kind: string, name: string, clock: Clock): void {
  checkName(kind, name);
  if (isClock(clock)) return;
  throw new TypeError(
    `Cannot make ${show(name)}: clock is ${show(clock)}, it should be a Clock ({ now, wallNow, setTimer })`,
  );
}

/** @throws TypeError when the name, the first argument of an account, is none. */
export function checkName(kind: string, name: unknown): void {
  if (typeof name === "string" && name !== "") return;
  throw new TypeError(
    `Cannot make a ${kind}: name is ${show(name)}, it should be a non-empty string, the first argument`,
  );
}

/** The error of whoever uses a disposed account. */
export function disposed(name: string): InvalidStateError {
  return new InvalidStateError(`Cannot use ${show(name)}: it was disposed, make a new account`);
}
