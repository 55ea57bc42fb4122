const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const TIME = "(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)";

/**
 * The forms of an instant. Each has a fixed number of characters or ends in one bounded run of them, so none can backtrack.
 * RFC 9110, section 5.6.7 (https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7): the form that servers must send, then the
 * two old ones that clients must still read. RFC 3339, section 5.6 (https://www.rfc-editor.org/rfc/rfc3339#section-5.6).
 */
const FORMS = [
  `[a-z]{3}, (?<day>\\d\\d) (?<month>[a-z]{3}) (?<year>\\d{4}) ${TIME} gmt`,
  `[a-z]{6,9}, (?<day>\\d\\d)-(?<month>[a-z]{3})-(?<year>\\d\\d) ${TIME} gmt`,
  `[a-z]{3} (?<month>[a-z]{3}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
  `(?<year>\\d{4})-(?<month>\\d\\d)-(?<day>\\d\\d)[t ]${TIME}(?:\\.(?<fraction>\\d{1,9}))?(?<zone>z|[+-]\\d\\d:\\d\\d)`,
].map((form) => new RegExp(`^${form}$`, "i"));

/** A year of two digits that would lie further ahead than this is of the century before (RFC 9110, section 5.6.7). */
const FUTURE_YEARS = 50;

/**
 * An HTTP date or an RFC 3339 timestamp as ms since 1970, rounded up to whole ms; null for anything else, such as the 30th
 * of February. The name of the day is not compared with the date. A leap second is the second after it.
 *
 * @param wallMs ms since 1970 now, by which a year of two digits is understood.
 */
export function instantMs(text: string, wallMs: number): number | null {
  for (const form of FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts !== undefined) return assembled(parts, wallMs);
  }
  return null;
}

type Parts = Readonly<Record<string, string | undefined>>;

function assembled(parts: Parts, wallMs: number): number | null {
  const number = (part: string) => Number(parts[part]);
  const [hour, minute, second] = [number("hour"), number("minute"), number("second")];
  const offset = offsetMs(parts.zone ?? "z");
  if (hour > 23 || minute > 59 || second > 60 || offset === null) return null;
  const month = monthIndex(parts.month ?? "");
  // A day that its month does not have comes out in the next month, or the one before.
  const date = Date.UTC(fullYear(parts.year ?? "", wallMs), month, number("day"));
  if (new Date(date).getUTCMonth() !== month) return null;
  const fraction = Number((parts.fraction ?? "").padEnd(9, "0"));
  return date + ((hour * 60 + minute) * 60 + second) * 1000 + Math.ceil(fraction / 1e6) - offset;
}

/** From 0; beyond 11, or NaN, for what is no month: no date has it. */
function monthIndex(month: string): number {
  const index = MONTHS.indexOf(month.toLowerCase());
  return index >= 0 ? index : Number(month) - 1;
}

/** The latest year with these digits that is not too far ahead. */
function fullYear(digits: string, wallMs: number): number {
  if (digits.length > 2) return Number(digits);
  const latest = new Date(wallMs).getUTCFullYear() + FUTURE_YEARS;
  return latest - ((latest - Number(digits)) % 100);
}

/** How far a zone is ahead of UTC, or null for one that there is not. */
function offsetMs(zone: string): number | null {
  if (zone.length === 1) return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hours > 23 || minutes > 59) return null;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
