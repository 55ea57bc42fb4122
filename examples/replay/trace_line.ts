import { UserError } from "./user_error.ts";
import { MAX_SPAN_STAMPS, MAX_TOKENS, STAMPS_PER_MS, type TraceRow } from "./trace.ts";

/** An instant as a file writes it, in two whole numbers, so that no digit is lost. */
export interface Instant {
  /** Whole milliseconds since any fixed origin. */
  readonly wholeMs: number;
  /** What is beyond them, in stamps of 100 ns: 0 to 9,999. */
  readonly stamps: number;
}

/** Where a line stands, for error messages. */
export interface LinePlace {
  /** The file as the user wrote it. */
  readonly file: string;
  /** The line's number, from 1. */
  readonly line: number;
}

/** What a parser found on a line. */
export interface ParsedLine {
  readonly instant: Instant;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** The error for a line that cannot be used. It names the file and the line. */
export function lineError(place: LinePlace, problem: string): UserError {
  return new UserError(`Cannot read ${place.file}, line ${place.line}: ${problem}.`);
}

/**
 * Checks a count of tokens.
 * @throws UserError unless it is a whole number from 0 to `MAX_TOKENS`.
 */
export function checkedTokens(
  place: LinePlace,
  field: { name: string; text: string; value: number },
): number {
  if (Number.isSafeInteger(field.value) && field.value >= 0 && field.value <= MAX_TOKENS) return field.value;
  throw lineError(
    place,
    `${field.name} is ${field.text}, it should be a whole number from 0 to 2,147,483,647`,
  );
}

/** Puts parsed lines on one time axis, which starts at the first of them, and checks that they are in order. */
export class RowBuilder {
  readonly #maxRows: number;
  readonly #rows: TraceRow[] = [];
  #first: Instant | null = null;

  /** @param maxRows how many rows are taken */
  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** The rows so far, in order. */
  get rows(): readonly TraceRow[] {
    return this.#rows;
  }

  /**
   * Adds the next line.
   * @throws UserError when it is earlier than the line above, too far from the first, has too many tokens, or is one too many.
   */
  add(place: LinePlace, parsed: ParsedLine): void {
    if (this.#rows.length === this.#maxRows) {
      throw lineError(place, `it is one too many, a trace should have at most ${this.#maxRows} requests`);
    }
    this.#first ??= parsed.instant;
    const arrivalStamps = stampsBetween(this.#first, parsed.instant);
    const previous = this.#rows.at(-1)?.arrivalStamps ?? 0;
    if (arrivalStamps < previous) {
      const ms = (previous - arrivalStamps) / STAMPS_PER_MS;
      throw lineError(
        place,
        `it is ${ms} ms earlier than the request before it, the rows should be in order of time`,
      );
    }
    if (arrivalStamps > MAX_SPAN_STAMPS) {
      throw lineError(place, "it is more than ten years after the first request, a trace should be shorter");
    }
    const { inputTokens, outputTokens } = parsed;
    if (inputTokens + outputTokens > MAX_TOKENS) {
      const sum = inputTokens + outputTokens;
      throw lineError(place, `it has ${sum} tokens in all, it should have at most ${MAX_TOKENS}`);
    }
    this.#rows.push({ arrivalStamps, inputTokens, outputTokens });
  }
}

function stampsBetween(from: Instant, to: Instant): number {
  return (to.wholeMs - from.wholeMs) * STAMPS_PER_MS + (to.stamps - from.stamps);
}
