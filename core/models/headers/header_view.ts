import { RateLimitInfo } from "../rate_limit_info.ts";
import { quietly } from "./quietly.ts";
import { plainMs, waitMs } from "./waits.ts";

/**
 * The headers of an answer: a `Headers`, anything else that has `get(name)` and is asked in lower case, or a record whose
 * names may have any letter case. Of repeated headers the first value counts, but for `clientAddress`, which reads from the end.
 */
export type HeaderSource =
  | { get(name: string): unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The longest value that is read, in characters; a longer one reads as absent, unless it is a list whose first value is short. */
const MAX_VALUE_CHARS = 256;
/** The longest name that is looked at, in characters. */
const MAX_NAME_CHARS = 64;
/** How many names of a record are looked at. */
const MAX_NAMES = 1000;

/** The date forms that have a comma of their own begin with the name of a day. */
const DAY = /^[ \t]*[A-Za-z]{3,9},/;
/** What may stand in a log as it is. */
const LOGGABLE = /^[\x21-\x7e]+$/;

/** The headers of one answer, read safely: what is junk, negative, too long or throws reads as absent (BEY-70). */
export class HeaderView {
  /** Ms since 1970 when the answer came. */
  readonly wallMs: number;
  readonly #read: (name: string) => unknown;

  constructor(source: unknown, wallMs: number) {
    this.wallMs = wallMs;
    this.#read = headerLookup(source);
  }

  /** A whole number from 0 to 2^31 - 1, or null. */
  count(name: string): number | null {
    const number = RateLimitInfo.parseIntOrNull(this.#first(name));
    return number !== null && number >= 0 ? number : null;
  }

  /** Milliseconds from now that a duration or an instant lies ahead, or null. */
  waitMs(name: string): number | null {
    const value = this.#first(name);
    return value === null ? null : waitMs(value, this.wallMs);
  }

  /** How long to wait: `retry-after-ms` if it says, which is more exact, else `retry-after`; ms, or null. */
  get retryAfterMs(): number | null {
    const exact = this.#first("retry-after-ms");
    return (exact === null ? null : plainMs(exact)) ?? this.waitMs("retry-after");
  }

  /** An identifier, of visible ASCII characters alone so that it can stand in a log, or null. */
  token(name: string): string | null {
    const value = this.#first(name);
    return value !== null && LOGGABLE.test(value) ? value : null;
  }

  /** The first value of a header, without spaces around it, or null. */
  #first(name: string): string | null {
    const value = quietly(() => {
      const values = this.#read(name);
      return Array.isArray(values) ? values[0] : values;
    });
    return typeof value === "string" ? firstOfList(value) : null;
  }
}

/** Asks a source for a name in lower case, as it stands there; what is no source or throws as it is looked at has nothing. */
export function headerLookup(source: unknown): (name: string) => unknown {
  return quietly(() => lookup(source)) ?? (() => undefined);
}

/** How a source is asked for a name. */
function lookup(source: unknown): ((name: string) => unknown) | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  const record = source as { readonly [name: string]: unknown; get?: unknown };
  const get = record.get;
  if (typeof get === "function") return (name) => get.call(source, name);
  const names = namesOf(record);
  return (name) => {
    const own = names.get(name);
    return own === undefined ? undefined : record[own];
  };
}

/** The names of a record by their lower-case forms; of names that differ in case alone, the first. */
function namesOf(record: object): Map<string, string> {
  const names = new Map<string, string>();
  let looked = 0;
  for (const name in record) {
    if (++looked > MAX_NAMES) break;
    if (name.length > MAX_NAME_CHARS || !Object.hasOwn(record, name)) continue;
    const lower = name.toLowerCase();
    if (!names.has(lower)) names.set(lower, name);
  }
  return names;
}

/** `Headers` joins what was sent several times with commas. */
function firstOfList(value: string): string | null {
  const head = value.slice(0, MAX_VALUE_CHARS + 1);
  const comma = head.indexOf(",", DAY.exec(head)?.[0].length ?? 0);
  if (comma < 0 && head.length > MAX_VALUE_CHARS) return null;
  const first = (comma < 0 ? head : head.slice(0, comma)).trim();
  return first === "" ? null : first;
}
