import { type Clock, isClock, systemClock } from "../../clock.ts";
import { show } from "../../invariant.ts";
import type { LogFields } from "../../logger.ts";
import { checkOptionNames, type OptionNames } from "../../option_names.ts";
import { RateLimitInfo } from "../rate_limit_info.ts";
import { ANTHROPIC } from "./anthropic_dialect.ts";
import type { Dialect, Facts } from "./dialect.ts";
import { GEMINI } from "./gemini_dialect.ts";
import { type HeaderSource, HeaderView } from "./header_view.ts";
import { OPENAI } from "./openai_dialect.ts";
import { quietly } from "./quietly.ts";
import { BEDROCK, WAIT_ONLY } from "./status_dialects.ts";

/**
 * Who answers. `openai-compatible` are servers that send OpenAI's headers; some of them limit requests per day under the
 * name of requests per minute (https://console.groq.com/docs/rate-limits), so learn no caps from these. `bedrock-anthropic`
 * is Claude on Bedrock.
 */
export type ProviderKey =
  | "openai"
  | "openai-compatible"
  | "azure"
  | "azure-embeddings"
  | "anthropic"
  | "bedrock"
  | "bedrock-anthropic"
  | "gemini"
  | "system-one";

const DIALECTS: ReadonlyMap<string, Dialect> = new Map<ProviderKey, Dialect>([
  ["openai", OPENAI],
  ["openai-compatible", OPENAI],
  ["azure", OPENAI],
  ["azure-embeddings", WAIT_ONLY],
  ["anthropic", ANTHROPIC],
  ["bedrock", BEDROCK],
  ["bedrock-anthropic", ANTHROPIC],
  ["gemini", GEMINI],
  ["system-one", WAIT_ONLY],
]);

/** An answer that is no success, as far as a client has it. Nothing in it can make a reader throw. */
export interface FailedAnswer {
  /** HTTP status; 0, or left out, when no answer came. */
  readonly status?: number;
  /** Its headers, none when null or left out. */
  readonly headers?: HeaderSource | null | undefined;
  /** What the error says, which tells ACCELERATION from CAPACITY; read off the body when left out. */
  readonly message?: string | undefined;
  /** Its body: JSON text of at most 65,536 characters, or what was parsed from it. */
  readonly body?: unknown;
}

/**
 * Reads what a provider says about its limits. Anything that is junk, negative, out of range, too long or throws reads as
 * absent, never as zero. Waits are rounded up to 0.001 ms; those that name an instant are counted from the clock's wall time
 * and are 0 once it has passed.
 */
export interface HeaderReader {
  /**
   * What a success says, or null when it names neither limit.
   *
   * @param modelId the catalog's id of the model, under which the info stands.
   * @throws TypeError when the id is no string, or empty.
   */
  onSuccess(modelId: string, headers: HeaderSource): RateLimitInfo | null;
  /**
   * What a failure says, or null when it says nothing about limits. An info tells of waits and limits; whether to try again
   * is for the status to say.
   *
   * @throws TypeError when the id is no string, or empty.
   */
  onError(modelId: string, answer: FailedAnswer): RateLimitInfo | null;
  /**
   * What else is worth a line in a log: identifiers of requests, and numbers that a RateLimitInfo has no place for. Flat,
   * null for what is absent; texts are of visible ASCII characters, at most 256.
   */
  logFields(headers: HeaderSource): LogFields;
}

/** What a reader of headers is given. */
export interface HeaderReaderOptions {
  /** Its wall time stands in `capturedAt`, and instants are counted from it; the system's when left out. */
  readonly clock?: Clock;
}

const OPTIONS: OptionNames<HeaderReaderOptions> = { clock: true };

/**
 * The reader of a provider's headers and error bodies.
 *
 * @throws RangeError for a provider that there is none for, TypeError when the clock is none.
 */
export function headerReader(provider: ProviderKey, options: HeaderReaderOptions = {}): HeaderReader {
  const dialect = DIALECTS.get(provider);
  if (dialect === undefined) {
    throw new RangeError(
      `Cannot read headers: provider is ${show(provider)}, it should be one of ${
        [...DIALECTS.keys()].join(", ")
      }`,
    );
  }
  return new DialectReader(dialect, checkedClock(options));
}

/**
 * How long the headers of any answer ask to wait: `retry-after-ms`, else `retry-after` in seconds, as an HTTP date (RFC 9110,
 * section 10.2.3) or in another form that a HeaderReader knows. Milliseconds, 0 when the time has passed; null when they do
 * not say, or say junk.
 *
 * @throws TypeError when the clock is none.
 */
export function readRetryAfterMs(headers: HeaderSource, options: HeaderReaderOptions = {}): number | null {
  return new HeaderView(headers, checkedClock(options).wallNow()).retryAfterMs;
}

class DialectReader implements HeaderReader {
  readonly #dialect: Dialect;
  readonly #clock: Clock;

  constructor(dialect: Dialect, clock: Clock) {
    this.#dialect = dialect;
    this.#clock = clock;
  }

  onSuccess(modelId: string, headers: HeaderSource): RateLimitInfo | null {
    const view = this.#view(headers);
    return infoOf(checkedId(modelId), view, this.#dialect.success(view));
  }

  onError(modelId: string, answer: FailedAnswer): RateLimitInfo | null {
    const view = this.#view(quietly(() => answer.headers));
    const status = quietly(() => answer.status);
    const facts = this.#dialect.error({
      status: typeof status === "number" ? status : 0,
      headers: view,
      message: quietly(() => answer.message),
      body: quietly(() => answer.body),
    });
    return infoOf(checkedId(modelId), view, facts);
  }

  logFields(headers: HeaderSource): LogFields {
    return this.#dialect.log(this.#view(headers));
  }

  #view(headers: unknown): HeaderView {
    return new HeaderView(headers, this.#clock.wallNow());
  }
}

function infoOf(model: string, { wallMs }: HeaderView, facts: Facts | null): RateLimitInfo | null {
  return facts === null ? null : new RateLimitInfo({ ...facts, model, capturedAt: wallMs });
}

function checkedId(modelId: string): string {
  if (typeof modelId === "string" && modelId !== "") return modelId;
  throw new TypeError(
    `Cannot read headers: modelId is ${show(modelId)}, it should be a non-empty string, the catalog's id`,
  );
}

function checkedClock(options: HeaderReaderOptions): Clock {
  checkOptionNames("Cannot read headers:", options, OPTIONS);
  const { clock = systemClock } = options;
  if (isClock(clock)) return clock;
  throw new TypeError(
    `Cannot read headers: clock is ${show(clock)}, it should be a Clock ({ now, wallNow, setTimer })`,
  );
}
