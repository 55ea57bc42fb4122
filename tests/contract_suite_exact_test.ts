// Habits that a line hardly shows: an instant that is late, amounts judged alone, credits beyond what was given, odd statuses.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { failuresOf } from "./planted_accounts.ts";
import { SoundMeter, SoundSlots } from "./sound_accounts.ts";

type List = readonly unknown[];

/** Bad habits, a case that has to catch each, and what it says. */
const PLANTED: readonly { habit: string; caught: RegExp; says: RegExp; make: () => SoundSlots }[] = [
  {
    habit: "names an instant 1,000 ms too late",
    caught: /no instant that is too late/,
    says: /^fits\(\) 1 ms before the instant it named: it is true/,
    make: () =>
      new class extends SoundMeter {
        override earliestFit(mine?: List, ahead?: List): number | null {
          const instant = super.earliestFit(mine, ahead);
          return instant === null ? null : instant + 1_000;
        }
      }(),
  },
  {
    habit: "names too late an instant for whoever is behind others",
    caught: /no instant that is too late/,
    says: /^fits\(\) 1 ms before the instant it named: it is true/,
    make: () =>
      new class extends SoundMeter {
        override earliestFit(mine: List = [], ahead: List = []): number | null {
          const instant = super.earliestFit(mine, ahead);
          return instant === null ? null : instant + 100 * ahead.length;
        }
      }(),
  },
  {
    habit: "names NaN as an instant",
    caught: /names an instant at which it fits/,
    says: /^earliestFit\(\) of a short account: it is NaN, it should be an instant in ms/,
    make: () =>
      new class extends SoundMeter {
        override earliestFit(): number {
          return NaN;
        }
      }(),
  },
  {
    habit: "judges each amount alone when asked",
    caught: /amounts of one call together/,
    says: /^fits\(\) of one more than is left: it is true, it should be false/,
    make: () =>
      new class extends SoundSlots {
        override fits(mine: List, ahead: List): boolean {
          this.refuseImpossible(mine);
          return mine.every((amount) => super.fits([amount], ahead));
        }
      }(),
  },
  {
    habit: "judges each amount alone, the impossible too",
    caught: /amounts of one call together/,
    says: /^fits\(\) of one more than there is should be false$/,
    make: () =>
      new class extends SoundSlots {
        override fits(mine: List, ahead: List): boolean {
          return mine.every((amount) => super.fits([amount], ahead));
        }
      }(),
  },
  {
    habit: "judges each amount alone when it takes",
    caught: /amounts of one call together/,
    says: /^tryTake\(\) of one more than is left: it is true, it should be false/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: List, ahead: List): boolean {
          this.refuseImpossible(mine);
          if (!mine.every((amount) => this.fits([amount], ahead))) return false;
          this.currentInUse += mine.length;
          return true;
        }
      }(),
  },
  {
    habit: "credits twice what comes back by the clock",
    caught: /gives back no more/,
    says: /^fits\(\) of more than 1: it is true, it should be false/,
    make: () =>
      new class extends SoundMeter {
        override give(amounts: List): void {
          super.give([...amounts, ...amounts]);
        }
      }(),
  },
  {
    habit: "has an undefined indicator",
    caught: /by a name that stays/,
    says: /^statusIndicator: it is undefined, it should be null when nominal, else a text of one line/,
    make: () => planted("statusIndicator", undefined),
  },
  {
    habit: "has a status without a summary",
    caught: /by a name that stays/,
    says: /^status: it is .*, it should have a summary\(\)$/,
    make: () => planted("status", {}),
  },
  {
    habit: "has no status",
    caught: /by a name that stays/,
    says: /^status: it is undefined, it should have a summary\(\)$/,
    make: () => planted("status", undefined),
  },
  {
    habit: "has a status of two lines",
    caught: /by a name that stays/,
    says: /^status\.summary\(\): it is .*, it should be a text of one line/,
    make: () => planted("status", { summary: () => "2 of 3\nfree" }),
  },
  {
    habit: "has a status that goes on changing",
    caught: /by a name that stays/,
    says: /^summary\(\) of a status that was read before a take: it is "2 free", it should be "3 free"/,
    make: () => {
      const slots = new SoundSlots();
      const status = { summary: () => `${3 - slots.currentInUse} free` };
      return Object.defineProperty(slots, "status", { value: status });
    },
  },
  {
    habit: "has a name that is no text",
    caught: /by a name that stays/,
    says: /^limiterName: it is undefined, it should be a text of one line/,
    make: () => planted("limiterName", undefined),
  },
  {
    habit: "leads an amount nowhere",
    caught: /by a name that stays/,
    says: /^accountFor\(\): it is undefined, it should be the account/,
    make: () => planted("accountFor", () => undefined),
  },
];

/** A sound account but for one member. */
function planted(member: string, value: unknown): SoundSlots {
  return Object.defineProperty(new SoundSlots(), member, { value });
}

describe("rateLimiterContract, exactly", () => {
  for (const { habit, caught, says, make } of PLANTED) {
    it(`ACC-01 catches an account that ${habit}, and says so`, async () => {
      const { failed } = await failuresOf(make);
      const found = [...failed].find(([name]) => caught.test(name));
      assert.ok(found, `it failed only: ${[...failed.keys()].join("; ")}`);
      const error = found[1];
      assert.ok(error instanceof Error);
      assert.equal(error.name, "ContractError");
      assert.match(error.message, says);
    });
  }
});
