// The suite that ships for authors of accounts: it passes a sound account, and catches every bad habit planted in one.

import assert from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import type { LimiterIdentity } from "../mod.ts";
import { failuresOf } from "./planted_accounts.ts";
import { SoundMeter, SoundSlots } from "./sound_accounts.ts";

/** Bad habits, and a case that has to catch each. */
const PLANTED: readonly { habit: string; caught: RegExp; make: () => SoundSlots }[] = [
  {
    habit: "takes twice",
    caught: /takes one by one/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          return super.tryTake(mine, ahead) && super.tryTake(mine, ahead);
        }
      }(),
  },
  {
    habit: "takes what does not fit",
    caught: /sets aside/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: readonly unknown[]): boolean {
          this.refuseImpossible(mine);
          this.currentInUse += mine.length;
          return true;
        }
      }(),
  },
  {
    habit: "keeps what it declined",
    caught: /sets aside/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          const isTaken = super.tryTake(mine, ahead);
          if (!isTaken) this.currentInUse += 1;
          return isTaken;
        }
      }(),
  },
  {
    habit: "gives too much",
    caught: /gives back exactly/,
    make: () =>
      new class extends SoundSlots {
        override give(amounts: readonly unknown[]): void {
          super.give(amounts);
          super.give([1]);
        }
      }(),
  },
  {
    habit: "gives too little",
    caught: /gives back exactly/,
    make: () =>
      new class extends SoundSlots {
        override give(): void {
          super.give([1]);
        }
      }(),
  },
  {
    habit: "forgets what is ahead when asked",
    caught: /sets aside/,
    make: () =>
      new class extends SoundSlots {
        override fits(mine: readonly unknown[]): boolean {
          return super.fits(mine, []);
        }
      }(),
  },
  {
    habit: "forgets what is ahead when it takes",
    caught: /sets aside/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: readonly unknown[]): boolean {
          return super.tryTake(mine, []);
        }
      }(),
  },
  {
    habit: "refuses for what is ahead",
    caught: /never refuses for it/,
    make: () =>
      new class extends SoundSlots {
        override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          this.refuseImpossible([...mine, ...ahead]);
          return super.fits(mine, ahead);
        }
      }(),
  },
  {
    habit: "lets the impossible wait",
    caught: /refuses what can never fit/,
    make: () =>
      new class extends SoundSlots {
        protected override refuseImpossible(): void {}
      }(),
  },
  {
    habit: "takes when asked",
    caught: /asking takes nothing/,
    make: () =>
      new class extends SoundSlots {
        override fits(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          return super.tryTake(mine, ahead);
        }
      }(),
  },
  {
    habit: "names an instant that is too early",
    caught: /names an instant/,
    make: () =>
      new class extends SoundMeter {
        override earliestFit(mine?: readonly unknown[], ahead?: readonly unknown[]): number | null {
          const instant = super.earliestFit(mine, ahead);
          return instant === null ? null : instant - 50;
        }
      }(),
  },
  {
    habit: "names no instant although the clock helps",
    caught: /names an instant/,
    make: () =>
      new class extends SoundMeter {
        override earliestFit(): null {
          return null;
        }
      }(),
  },
  {
    habit: "names an instant for the impossible",
    caught: /refuses what can never fit/,
    make: () =>
      new class extends SoundSlots {
        override earliestFit(): number {
          return 5;
        }
      }(),
  },
  {
    habit: "keeps an old wake",
    caught: /has one wake/,
    make: () =>
      new class extends SoundSlots {
        readonly #wakes: (() => void)[] = [];

        override onCapacityChange(wake: (() => void) | null): void {
          if (wake === null) this.#wakes.length = 0;
          else this.#wakes.push(wake);
        }

        override wake(): void {
          this.#wakes.forEach((each) => each());
        }
      }(),
  },
  {
    habit: "keeps its wake after null",
    caught: /has one wake/,
    make: () =>
      new class extends SoundSlots {
        override onCapacityChange(wake: (() => void) | null): void {
          if (wake !== null) super.onCapacityChange(wake);
        }
      }(),
  },
  {
    habit: "is another account each time",
    caught: /by a name that stays/,
    make: () =>
      new class extends SoundSlots {
        override accountFor(): LimiterIdentity {
          return new SoundSlots();
        }
      }(),
  },
  {
    habit: "takes what is ahead as well",
    caught: /its own amount alone/,
    make: () =>
      new class extends SoundSlots {
        override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          const isTaken = super.tryTake(mine, ahead);
          if (isTaken) this.currentInUse += ahead.length;
          return isTaken;
        }
      }(),
  },
  {
    habit: "wakes nobody when something is given back",
    caught: /wakes its line/,
    make: () => Object.assign(new SoundSlots(), { afterGive: () => {} }),
  },
  {
    habit: "has no finite capacity",
    caught: /by a name that stays/,
    make: () => Object.assign(new SoundSlots(), { capacity: Infinity }),
  },
  {
    habit: "never has room again",
    caught: /admits a line/,
    make: () =>
      new class extends SoundSlots {
        #taken = 0;

        override tryTake(mine: readonly unknown[], ahead: readonly unknown[]): boolean {
          return ++this.#taken <= 6 && super.tryTake(mine, ahead);
        }
      }(),
  },
];

describe("rateLimiterContract", () => {
  it("ACC-01 passes sound accounts, whether permits come back by release or by time", async () => {
    for (const make of [() => new SoundSlots(), () => new SoundMeter()]) {
      const { failed, cases } = await failuresOf(make);
      assert.deepEqual([...failed.keys()], []);
      assert.ok(cases >= 10, `${cases} cases`);
    }
  });

  for (const { habit, caught, make } of PLANTED) {
    it(`ACC-01 catches an account that ${habit}`, async () => {
      const { failed } = await failuresOf(make);
      const names = [...failed.keys()];
      assert.ok(names.some((name) => caught.test(name)), `it failed only: ${names.join("; ")}`);
    });
  }
});
