/** One request of a trace. */
export interface TraceRow {
  /** Arrival after the first row, in stamps of 100 ns (0.0001 ms): a whole number, never falling from row to row. */
  readonly arrivalStamps: number;
  /** Tokens the request sends: a whole number from 0 up. */
  readonly inputTokens: number;
  /** Tokens the model answers with: a whole number from 0 up. */
  readonly outputTokens: number;
}

/** LLM traffic: who came when, and how large. */
export interface Trace {
  /** What reports call it: the name of the file, or how it was made. */
  readonly name: string;
  /** At least one row, in order of arrival. */
  readonly rows: readonly TraceRow[];
}

/** Stamps in a millisecond: the Azure traces count in units of 100 ns. */
export const STAMPS_PER_MS = 10_000;

/** Stamps in a tick of the virtual clock (0.001 ms). */
export const STAMPS_PER_TICK = 10;

/** Ticks in a millisecond. */
export const TICKS_PER_MS = 1_000;

/** Ticks in a second. */
export const TICKS_PER_SECOND = 1_000_000;

/** Ticks in a minute, the period of every quota. */
export const TICKS_PER_MINUTE = 60_000_000;

/** The largest number of tokens one request may name: what an account of Sluice can count. */
export const MAX_TOKENS = 2_147_483_647;

/** The longest trace, in stamps: ten years. It keeps all arithmetic on instants exact. */
export const MAX_SPAN_STAMPS = 3_155_760_000_000_000;

/** All tokens a request takes from the quota. */
export function tokensOf(row: TraceRow): number {
  return row.inputTokens + row.outputTokens;
}

/**
 * The tick a request arrives at: the first one at or after its stamp, so that nobody is admitted before having come.
 * The clock of an Admission counts ticks of 0.001 ms, ten times coarser than a stamp.
 */
export function arrivalTicksOf(row: TraceRow): number {
  return Math.ceil(row.arrivalStamps / STAMPS_PER_TICK);
}
