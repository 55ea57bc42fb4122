// Runs the suite for authors of accounts on an account with a bad habit.

import { type ContractSubject, ManualClock, rateLimiterContract, type TestRunner } from "../testing/mod.ts";
import { SoundMeter, type SoundSlots } from "./sound_accounts.ts";

/** Runs the suite on one account; answers the cases that fail, each with its error, and how many there are. */
export async function failuresOf(
  make: () => SoundSlots,
): Promise<{ failed: ReadonlyMap<string, unknown>; cases: number }> {
  const cases: [string, () => void | Promise<void>][] = [];
  const runner: TestRunner = {
    describe: (_, body) => body(),
    it: (name, body) => void cases.push([name, body]),
  };
  const subject = (): ContractSubject<unknown> => {
    const account = make();
    const clock = account instanceof SoundMeter ? account.clock : new ManualClock();
    return { account, clock, amount: 1, room: 3, impossible: [1, 1, 1, 1] };
  };
  rateLimiterContract("planted", subject, runner);
  const failed = new Map<string, unknown>();
  for (const [name, body] of cases) {
    try {
      await body();
    } catch (error) {
      failed.set(name, error);
    }
  }
  return { failed, cases: cases.length };
}
