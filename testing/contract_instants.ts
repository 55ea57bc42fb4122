// The cases of the account suite about earliestFit: the instant is there, and it is the first at which an amount fits.

import { check, same, shown } from "./checks.ts";
import type { MakeSubject, TestRunner } from "./contract.ts";

/** Adds the cases. */
export function instants<T>(make: MakeSubject<T>, { it }: TestRunner): void {
  it("names an instant at which it fits, or null when only an event can help", async () => {
    await asksAround(make, 0, 0);
    await asksAround(make, make().room - 1, 0);
  });

  it("names no instant that is too late: 1 ms before, it does not fit", async () => {
    await asksAround(make, 0, -1);
    await asksAround(make, make().room - 1, -1);
  });
}

/** Asks a full account for one amount behind so many, that many ms from the instant which it named: it fits, or not yet. */
async function asksAround<T>(make: MakeSubject<T>, behind: number, byMs: 0 | -1): Promise<void> {
  const { account, clock, amount, room } = make();
  const ahead = new Array<T>(behind).fill(amount);
  account.tryTake(new Array<T>(room).fill(amount), []);
  const instantMs = account.earliestFit([amount], ahead);
  if (account.replenishment === "RELEASE" && instantMs === null) return;
  check(
    Number.isFinite(instantMs),
    `earliestFit() of a short account: it is ${shown(instantMs)}, it should be an instant in ms`,
  );
  await clock.advanceTo(Math.max(clock.now(), instantMs! + byMs));
  const when = byMs === 0 ? "at the instant it named" : "1 ms before the instant it named";
  same(account.fits([amount], ahead), byMs === 0, `fits() ${when}`);
}
