import type { LimiterIdentity } from "../mod.ts";
import { check, same, shown } from "./checks.ts";

/** What an identity owes to events and tables. @throws ContractError saying what does not hold. */
export function checkIdentity(identity: LimiterIdentity): void {
  check(
    typeof identity === "object" && identity !== null,
    `accountFor(): it is ${shown(identity)}, it should be the account that the amount debits`,
  );
  checkWord("limiterName", identity.limiterName);
  checkWord("limiterCategory", identity.limiterCategory);
  const { capacity, currentInUse, statusIndicator } = identity;
  check(Number.isFinite(capacity), `capacity: it is ${shown(capacity)}, it should be a finite number`);
  check(
    Number.isFinite(currentInUse) && currentInUse >= 0,
    `currentInUse: it is ${shown(currentInUse)}, it should be a finite number, 0 or more`,
  );
  if (statusIndicator !== null) checkWord("statusIndicator", statusIndicator, "null when nominal, else ");
  checkWord("status.summary()", summaryOf(identity));
}

/** The status as one line. @throws ContractError when there is none to read. */
export function summaryOf(identity: LimiterIdentity): string {
  const status: unknown = identity.status;
  const summary: unknown = (status as { summary?: unknown } | null | undefined)?.summary;
  check(typeof summary === "function", `status: it is ${shown(status)}, it should have a summary()`);
  return (status as { summary(): string }).summary();
}

/** A snapshot goes on saying what it said, whatever `move` does to the account. */
export function checkSnapshot(identity: LimiterIdentity, move: () => void): void {
  const before = summaryOf(identity);
  const { status } = identity;
  move();
  same(status.summary(), before, "summary() of a status that was read before a take");
}

function checkWord(what: string, value: unknown, or = ""): void {
  check(
    typeof value === "string" && value !== "" && !value.includes("\n"),
    `${what}: it is ${shown(value)}, it should be ${or}a text of one line that is not empty`,
  );
}
