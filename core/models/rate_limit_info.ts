import { checkedNumber, type NumberRange } from "../checked_number.ts";
import { systemClock } from "../clock.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/** What a provider limits: how much is used (CAPACITY), how fast use grows (ACCELERATION), or it does not say. */
export type RateLimitType = "CAPACITY" | "ACCELERATION" | "UNKNOWN";

const TYPES: readonly RateLimitType[] = ["CAPACITY", "ACCELERATION", "UNKNOWN"];

/** What a provider said about its limits with one answer. A number that it did not say is null, or left out. */
export interface RateLimitInfoFields {
  /** The catalog's id of the model: a non-empty string. */
  readonly model: string;
  /** Tokens per minute, a whole number from 0. */
  readonly tokensLimit?: number | null;
  /** Tokens left now, a whole number from 0. */
  readonly tokensRemaining?: number | null;
  /** Milliseconds from `capturedAt` until the tokens are all back, 0 or more; fractions count. */
  readonly tokensResetMs?: number | null;
  /** Requests per minute, a whole number from 0. */
  readonly requestsLimit?: number | null;
  /** Requests left now, a whole number from 0. */
  readonly requestsRemaining?: number | null;
  /** Milliseconds that the provider asks to wait from `capturedAt`, 0 or more; fractions count. */
  readonly retryAfterMs?: number | null;
  /** Whether the answer said that a limit was hit; false when left out. */
  readonly wasRateLimited?: boolean;
  /** Wall time of the answer, ms since 1970; now on the machine's clock when left out. */
  readonly capturedAt?: number | undefined;
  /** UNKNOWN when null or left out. */
  readonly type?: RateLimitType | null;
}

const FIELDS: OptionNames<RateLimitInfoFields> = {
  model: true,
  tokensLimit: true,
  tokensRemaining: true,
  tokensResetMs: true,
  requestsLimit: true,
  requestsRemaining: true,
  retryAfterMs: true,
  wasRateLimited: true,
  capturedAt: true,
  type: true,
};

/** What `fromHeaders` takes. */
type TokenFields = Pick<
  RateLimitInfoFields,
  "tokensLimit" | "tokensRemaining" | "tokensResetMs" | "capturedAt"
>;

const TOKEN_FIELDS: OptionNames<TokenFields> = {
  tokensLimit: true,
  tokensRemaining: true,
  tokensResetMs: true,
  capturedAt: true,
};

const COUNT: NumberRange = { least: 0, most: Number.MAX_SAFE_INTEGER };
const SPAN: NumberRange = { ...COUNT, isWhole: false };
const INSTANT: NumberRange = {
  least: -Number.MAX_SAFE_INTEGER,
  most: Number.MAX_SAFE_INTEGER,
  isWhole: false,
};

/** How long `rateLimited` asks to wait. */
const LIMITED_WAIT_MS = 60_000;
/** More characters than this are no 32-bit number, whatever they are. */
const MAX_NUMBER_CHARS = 64;

/** What a provider said about its limits with one answer. Immutable. Header readers make it: see `headerReader`. */
export class RateLimitInfo implements Required<RateLimitInfoFields> {
  /** The catalog's id of the model. */
  readonly model: string;
  /** Tokens per minute, or null. */
  readonly tokensLimit: number | null;
  /** Tokens left at `capturedAt`, or null. */
  readonly tokensRemaining: number | null;
  /** Milliseconds from `capturedAt` until the tokens are all back, or null. */
  readonly tokensResetMs: number | null;
  /** Requests per minute, or null. */
  readonly requestsLimit: number | null;
  /** Requests left at `capturedAt`, or null. */
  readonly requestsRemaining: number | null;
  /** Milliseconds to wait from `capturedAt`, or null. */
  readonly retryAfterMs: number | null;
  /** Whether the answer said that a limit was hit. */
  readonly wasRateLimited: boolean;
  /** Wall time of the answer, ms since 1970. */
  readonly capturedAt: number;
  /** What was limited, as far as the provider says. */
  readonly type: RateLimitType;

  /** Checks every field. @throws TypeError or RangeError naming the field, its value and what would do. */
  constructor(fields: RateLimitInfoFields) {
    if (typeof fields !== "object" || fields === null) {
      throw refused("it", fields, 'an object such as { model: "gpt" }');
    }
    checkOptionNames("Cannot make a RateLimitInfo:", fields, FIELDS);
    if (typeof fields.model !== "string" || fields.model === "") {
      throw refused("model", fields.model, "a non-empty string");
    }
    const { wasRateLimited = false, capturedAt = systemClock.wallNow() } = fields;
    if (typeof wasRateLimited !== "boolean") throw refused("wasRateLimited", wasRateLimited, "true or false");
    this.model = fields.model;
    this.tokensLimit = checked(fields, "tokensLimit", COUNT);
    this.tokensRemaining = checked(fields, "tokensRemaining", COUNT);
    this.tokensResetMs = checked(fields, "tokensResetMs", SPAN);
    this.requestsLimit = checked(fields, "requestsLimit", COUNT);
    this.requestsRemaining = checked(fields, "requestsRemaining", COUNT);
    this.retryAfterMs = checked(fields, "retryAfterMs", SPAN);
    this.wasRateLimited = wasRateLimited;
    this.capturedAt = checkedNumber("Cannot make a RateLimitInfo: capturedAt", capturedAt, INSTANT);
    this.type = checkedType(fields.type);
    Object.freeze(this);
  }

  /**
   * For a limit that was hit, when nothing more is known: no limits, nothing left, 60 s to wait, UNKNOWN.
   *
   * @param capturedAt ms since 1970; now when left out.
   * @throws as the constructor.
   */
  static rateLimited(model: string, capturedAt?: number): RateLimitInfo {
    const hit = {
      tokensRemaining: 0,
      requestsRemaining: 0,
      retryAfterMs: LIMITED_WAIT_MS,
      wasRateLimited: true,
    };
    return new RateLimitInfo({ model, ...hit, capturedAt });
  }

  /**
   * For a provider that tells about tokens alone: CAPACITY, not rate limited, nothing to wait for, no limit of requests.
   *
   * @throws as the constructor.
   */
  static fromHeaders(
    model: string,
    tokens: Pick<RateLimitInfoFields, "tokensLimit" | "tokensRemaining" | "tokensResetMs" | "capturedAt">,
  ): RateLimitInfo {
    checkOptionNames("Cannot make a RateLimitInfo:", tokens, TOKEN_FIELDS);
    const { tokensLimit = null, tokensRemaining = null, tokensResetMs = null, capturedAt } = tokens;
    return new RateLimitInfo({
      model,
      tokensLimit,
      tokensRemaining,
      tokensResetMs,
      capturedAt,
      type: "CAPACITY",
    });
  }

  /**
   * A header's value as a 32-bit signed whole number, spaces around it aside: `" 42 "` is 42. Null for everything else,
   * also for `"1.0"`, `"1e3"`, `"2147483648"` and what is no string. Never throws.
   */
  static parseIntOrNull(value: string | null | undefined): number | null {
    if (typeof value !== "string") return null;
    const text = value.trim();
    if (text.length > MAX_NUMBER_CHARS || !/^[+-]?[0-9]+$/.test(text)) return null;
    const number = Number(text);
    return (number | 0) === number ? number | 0 : null;
  }

  /** Requests per minute: the limit, 0 when unknown. */
  get requestsPerMinute(): number {
    return this.requestsLimit ?? 0;
  }

  /** Tokens per minute: the limit, 0 when unknown. */
  get tokensPerMinute(): number {
    return this.tokensLimit ?? 0;
  }
}

type NumberField =
  | "tokensLimit"
  | "tokensRemaining"
  | "tokensResetMs"
  | "requestsLimit"
  | "requestsRemaining"
  | "retryAfterMs";

function checked(fields: RateLimitInfoFields, field: NumberField, range: NumberRange): number | null {
  const value = fields[field] ?? null;
  return value === null ? null : checkedNumber(`Cannot make a RateLimitInfo: ${field}`, value, range);
}

function checkedType(type: RateLimitType | null | undefined): RateLimitType {
  if (type === null || type === undefined) return "UNKNOWN";
  if (TYPES.includes(type)) return type;
  throw refused("type", type, `one of ${TYPES.join(", ")}`);
}

function refused(field: string, value: unknown, better: string): TypeError {
  return new TypeError(`Cannot make a RateLimitInfo: ${field} is ${show(value)}, it should be ${better}`);
}
