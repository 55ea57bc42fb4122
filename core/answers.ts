import { toTicksUp } from "./clock.ts";
import { show } from "./invariant.ts";

/**
 * What a custom account answered to `fits` or `tryTake`.
 *
 * @throws TypeError naming the verb when it is no boolean; a promise is none.
 */
export function checkedVerdict(verb: "fits" | "tryTake", answer: boolean): boolean {
  if (typeof answer === "boolean") return answer;
  throw new TypeError(`${verb}() answered ${show(answer)}, it should be true or false`);
}

/**
 * What a custom account answered to `earliestFit`, in ticks; Infinity for none.
 *
 * @throws TypeError when it is neither a number nor null.
 */
export function checkedInstant(answer: number | null): number {
  if (answer === null) return Infinity;
  if (typeof answer === "number" && !Number.isNaN(answer)) return toTicksUp(answer);
  throw new TypeError(
    `earliestFit() answered ${show(answer)}, it should be an instant in ms, or null when no time is known`,
  );
}
