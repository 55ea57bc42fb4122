import { show } from "./invariant.ts";

/** The numbers that an option takes, both ends included. */
export interface NumberRange {
  readonly least: number;
  /** Infinity admits Infinity itself. */
  readonly most: number;
  readonly isWhole?: boolean;
}

/**
 * The number, when it is in range. `what` begins the message: for example `Cannot make a ModelSpec: tpm`.
 *
 * @throws TypeError when it is no number, RangeError when it is out of range; both name the value and what would do.
 */
export function checkedNumber(what: string, value: number, range: NumberRange): number {
  const { least, most, isWhole = true } = range;
  const kind = isWhole ? "a whole number" : "a number";
  if (typeof value !== "number") throw new TypeError(`${what} is ${show(value)}, it should be ${kind}`);
  if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value;
  throw new RangeError(`${what} is ${value}, it should be ${kind} from ${least} to ${most}`);
}
