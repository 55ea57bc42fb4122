import type { LimiterIdentity } from "./account.ts";
import { KeyedRateLimiter, type LimiterKey } from "./accounts/keyed_rate_limiter.ts";
import { isFreed } from "./accounts/native.ts";
import { currentHost } from "./host.ts";
import { messageOf } from "./faults.ts";
import { show } from "./invariant.ts";

/** One account at one moment. */
export interface AccountHealth {
  /** The account's `limiterName`; a description of the object where that cannot be read. */
  readonly name: string;
  /** The account's `limiterCategory`; `?` where that cannot be read. */
  readonly category: string;
  /** In the account's own unit: permits, slots, tokens, bytes; null where it cannot be read. */
  readonly inUse: number | null;
  /** In the same unit; null where it cannot be read. */
  readonly capacity: number | null;
  /** Callers that this account holds now, over all admissions. */
  readonly waiters: number;
  /** Null when nominal, else `blocked`, `probing`, `throttle:<n>x`, `pace:<n>ms` or what the account says. */
  readonly indicator: string | null;
  /** The account's own one line; null where it cannot be read. */
  readonly summary: string | null;
  /** What went wrong while the account was read, or null. */
  readonly fault: string | null;
}

/**
 * Reads every account, in the order given; changes nothing. One that fails to say something about itself gets null there, and
 * the fault; the others are read all the same. A keyed limiter stands for its `accounts()`, at most 100 of them.
 *
 * @throws TypeError when the accounts are not iterable.
 */
export function health(
  accounts: Iterable<LimiterIdentity | Pick<KeyedRateLimiter<LimiterKey>, "accounts">>,
): AccountHealth[] {
  if (typeof accounts?.[Symbol.iterator] !== "function") {
    throw new TypeError(
      `Cannot read the health of accounts: they are ${show(accounts)}, they should be an array of accounts`,
    );
  }
  return [...accounts].flatMap((each) => isKeyed(each) ? each.accounts().map(healthOf) : [healthOf(each)]);
}

/**
 * The same as text: a line for each account below two lines of titles, columns aligned, no line feed at the end. The level is
 * what is in use of the capacity, for memory in bytes. It is plain ASCII whatever the accounts are called: other characters
 * are written as in `\u{e9}`, and what is longer than its column may be loses its middle. No line is longer than 130
 * characters. @throws as `health`.
 *
 * ```text
 * account    category                level  used  waiters  indicator
 * ---------  ------------  ---------------  ----  -------  -------------
 * gpt        token_bucket  450,000/600,000   75%        2  throttle:1.5x
 * db:orders  semaphore                3/16   18%        0  -
 * ```
 */
export function healthTable(
  accounts: Iterable<LimiterIdentity | Pick<KeyedRateLimiter<LimiterKey>, "accounts">>,
): string {
  const rows = health(accounts).map(cellsOf);
  const titles = COLUMNS.map(({ title }) => title);
  const lines = [titles, ...rows];
  const widths = COLUMNS.map((_, column) =>
    lines.reduce((width, cells) => Math.max(width, cells[column]!.length), 0)
  );
  const ruled = [titles, widths.map((width) => "-".repeat(width)), ...rows];
  return ruled.map((cells) => lineOf(cells, widths)).join("\n");
}

interface Column {
  readonly title: string;
  /** Characters of the longest cell. */
  readonly most: number;
  readonly isRight: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: "account", most: 32, isRight: false },
  { title: "category", most: 16, isRight: false },
  { title: "level", most: 23, isRight: true },
  { title: "used", most: 5, isRight: true },
  { title: "waiters", most: 13, isRight: true },
  { title: "indicator", most: 31, isRight: false },
];

function isKeyed(each: object): each is Pick<KeyedRateLimiter<LimiterKey>, "accounts"> {
  return each instanceof KeyedRateLimiter;
}

function healthOf(account: LimiterIdentity): AccountHealth {
  const faults: string[] = [];
  const read = <T>(question: () => T, isFit: (answer: T) => boolean): T | null => {
    try {
      const answer = question();
      if (isFit(answer)) return answer;
      faults.push(`it answers ${show(answer)}`);
    } catch (fault) {
      faults.push(messageOf(fault));
    }
    return null;
  };
  const name = read(() => account.limiterName, isText) ?? show(account);
  const category = read(() => account.limiterCategory, isText) ?? "?";
  const inUse = read(() => account.currentInUse, isNumber);
  const capacity = read(() => account.capacity, isNumber);
  const indicator = read(() => account.statusIndicator, (said) => said === null || isText(said));
  const summary = read(() => account.status.summary(), isText);
  const waiters = read(() => isFreed(account) ? 0 : currentHost().heldOn(account), isNumber) ?? 0;
  return { name, category, inUse, capacity, waiters, indicator, summary, fault: faults[0] ?? null };
}

function isText(answer: unknown): boolean {
  return typeof answer === "string";
}

function isNumber(answer: unknown): boolean {
  return typeof answer === "number" && !Number.isNaN(answer);
}

function cellsOf(row: AccountHealth): string[] {
  const { name, category, inUse, capacity, waiters, indicator, fault } = row;
  const unit = category === "memory" ? bytes : count;
  const level = `${inUse === null ? "?" : unit(inUse)}/${capacity === null ? "?" : unit(capacity)}`;
  const said = fault === null ? indicator ?? "-" : `fault: ${fault}`;
  const cells = [name, category, level, share(inUse, capacity), count(waiters), said];
  return cells.map((cell, column) => plain(cell, COLUMNS[column]!.most));
}

/** Digits in groups of three; from a thousand million on in powers of ten. */
function count(value: number): string {
  if (Math.abs(value) >= 1e9) {
    return Number.isFinite(value) ? value.toExponential(2).replace("+", "") : String(value);
  }
  const text = Number.isInteger(value) ? String(value) : value.toFixed(1);
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** In units of 1024 * 1024 or its 1024-fold. */
function bytes(value: number): string {
  if (value >= 2 ** 30 && value < 2 ** 50) return `${(value / 2 ** 30).toFixed(1)}G`;
  return value >= 2 ** 20 && value < 2 ** 30 ? `${Math.round(value / 2 ** 20)}M` : count(value);
}

/** Rounded down, so that 100% is full. */
function share(inUse: number | null, capacity: number | null): string {
  if (inUse === null || capacity === null || !(capacity > 0)) return "-";
  const percent = Math.floor(100 * inUse / capacity);
  return percent <= 999 ? `${percent}%` : ">999%";
}

/** As printable ASCII of at most so many characters; what is too long loses its middle, so that like names stay apart. */
function plain(text: string, most: number): string {
  // The slices keep this short for a name of any length.
  const head = [...text.slice(0, most)].map(escaped);
  if (text.length <= most && head.join("").length <= most) return head.join("");
  const tail = [...text.slice(-most)].map(escaped).reverse();
  const tailMost = Math.floor((most - 2) / 3);
  const end = upTo(tail, tailMost).reverse().join("");
  return `${upTo(head, most - 2 - tailMost).join("")}..${end}`;
}

/** The first units that together have at most so many characters. */
function upTo(units: readonly string[], most: number): string[] {
  let length = 0;
  const end = units.findIndex((unit) => (length += unit.length) > most);
  return units.slice(0, end < 0 ? units.length : end);
}

function escaped(character: string): string {
  return /^[ -~]$/.test(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, column) =>
    COLUMNS[column]!.isRight ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)
  );
  return padded.join("  ").trimEnd();
}
