import { show } from "./invariant.ts";

/** Decimals of the smallest part of money that is counted: a billionth of the currency's unit. */
const NANO_DIGITS = 9;

/** A decimal number as text: of a bounded length, so that it is read in bounded time. */
const DECIMAL = /^(\d{1,30})(?:\.(\d{1,30}))?(?:e-(\d{1,3}))?$/;

/** Three upper-case letters, as ISO 4217 has them. */
const CURRENCY = /^[A-Z]{3}$/;

/**
 * A decimal number in nano-units (billionths of one), rounded half up. A number is read as the shortest decimal that stands for
 * it, the one that `String` writes: 0.1 is a tenth exactly.
 *
 * @throws TypeError when it is neither number nor text; RangeError when it is no decimal number, negative or too large (a number
 * above 2^53 - 1, a text of more than 30 digits before the point).
 */
export function nanosOf(what: string, amount: number | string): bigint {
  if (typeof amount !== "number" && typeof amount !== "string") {
    throw new TypeError(`${what} is ${show(amount)}, it should be a number, or a decimal number as text`);
  }
  const isInexact = typeof amount === "number" && amount > Number.MAX_SAFE_INTEGER;
  const parts = isInexact ? null : DECIMAL.exec(String(amount));
  if (parts === null) {
    throw new RangeError(
      `${what} is ${show(amount)}, it should be a decimal number from 0 to ${Number.MAX_SAFE_INTEGER}`,
    );
  }
  const [, whole = "", fraction = "", exponent = "0"] = parts;
  const digits = BigInt(whole + fraction);
  const decimals = fraction.length + Number(exponent);
  return decimals <= NANO_DIGITS
    ? digits * powerOfTen(NANO_DIGITS - decimals)
    : roundedQuotient(digits, powerOfTen(decimals - NANO_DIGITS));
}

/** The quotient of two numbers that are not negative, rounded half up. */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor);
}

/** Nano-units as a decimal number with so many decimals, 1 to 9, rounded half up. */
export function decimalText(nanos: bigint, decimals: number = NANO_DIGITS): string {
  const digits = roundedQuotient(nanos, powerOfTen(NANO_DIGITS - decimals)).toString().padStart(
    decimals + 1,
    "0",
  );
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** @throws TypeError when it is not three upper-case letters. */
export function checkedCurrency(what: string, currency: string): string {
  if (typeof currency === "string" && CURRENCY.test(currency)) return currency;
  throw new TypeError(
    `${what} is ${show(currency)}, it should be three upper-case letters, such as "USD" (ISO 4217)`,
  );
}

function powerOfTen(exponent: number): bigint {
  return BigInt(`1${"0".repeat(exponent)}`);
}
