import type { Cost } from "./jobs/cost.ts";

/** What every error of this library has: a stable `code`, facts as fields, and a `cause` where one is known. */
export class AdmissionError extends Error {
  /** Stable and machine-readable; the message is for people and may change. */
  readonly code: string;

  /**
   * For subclasses; accounts and gates throw one of those.
   *
   * @param code stable, in snake_case.
   * @param message for people: what cannot be done, how it is, how it should be.
   */
  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.name = new.target.name;
  }
}

/** An operation that the present state does not allow, such as starting twice. Code `invalid_state`. */
export class InvalidStateError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "InvalidStateError";

  /** The message says what cannot be done, how it is, how it should be. */
  constructor(message: string, options?: { cause?: unknown }) {
    super("invalid_state", message, options);
  }
}

/** What an account may say about itself when it refuses. */
export interface RefusalFacts {
  /**
   * `uncorrectable` unless an account refuses everyone for a while (`circuit_blocked`), admission is broken (`defect`) or money
   * has run out (`spend_cap`).
   */
  code?: "uncorrectable" | "circuit_blocked" | "defect" | "spend_cap";
  /** `limiterName` of the account that refuses, or null. */
  account?: string | null;
  /** Whole milliseconds after which asking again can help, or null when no time is known. */
  retryAfterMs?: number | null;
  /** The fault behind the refusal. */
  cause?: unknown;
}

/** The demand can never be granted as things stand. The message is fit for a model to read. */
export class UncorrectableError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name: string = "UncorrectableError";
  /** `limiterName` of the account that refused, or null. */
  readonly account: string | null;
  /** Milliseconds after which asking again can help, or null. */
  readonly retryAfterMs: number | null;
  /** Always false: the caller cannot mend the request. */
  readonly isCorrectable: boolean = false;

  /** For accounts: the message, fit for a model to read, and what is known of the refusal. */
  constructor(message: string, facts: RefusalFacts = {}) {
    super(facts.code ?? "uncorrectable", message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.account = facts.account ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** What a spend gate knew when it refused; null for what does not apply. */
export interface SpendFacts {
  /** The most that may be spent. */
  cap?: Cost | null;
  /** What was spent before. */
  spent?: Cost | null;
  /** What unfinished jobs may still spend. */
  committed?: Cost | null;
  /** What the refused job may spend, by its reservations; null when its model has no prices. */
  asked?: Cost | null;
  /** Whether asking again cannot help while the cap stands; true when left out. */
  isFinal?: boolean;
}

/** The job could spend more than is allowed. It was refused before it held anything. Code `spend_cap`. */
export class SpendCapError extends UncorrectableError implements Required<SpendFacts> {
  /** The class's name, also in minified code. */
  override readonly name = "SpendCapError";
  /** The most that may be spent, or null. */
  readonly cap: Cost | null;
  /** What was spent before, or null. */
  readonly spent: Cost | null;
  /** What unfinished jobs may still spend, or null. */
  readonly committed: Cost | null;
  /** What the refused job may spend, or null when its model has no prices. */
  readonly asked: Cost | null;
  /**
   * Whether asking again cannot help while the cap stands. False when the job would fit once the workflow's unfinished jobs, itself
   * included, have ended and spent nothing.
   */
  readonly isFinal: boolean;

  /** For spend gates: the message, fit for a model to read, and what was known. */
  constructor(message: string, facts: SpendFacts = {}) {
    super(message, { code: "spend_cap" });
    this.cap = facts.cap ?? null;
    this.spent = facts.spent ?? null;
    this.committed = facts.committed ?? null;
    this.asked = facts.asked ?? null;
    this.isFinal = facts.isFinal ?? true;
  }
}

/** The request is wrong in a way that its author, a model included, can mend. Code `correctable`. */
export class CorrectableError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name: string = "CorrectableError";
  /** Always true. */
  readonly isCorrectable: boolean = true;

  /** The message says what is wrong with the request and how to mend it. */
  constructor(message: string, options?: { cause?: unknown }) {
    super("correctable", message, options);
  }
}

/** The wait was ended from outside: the job's context was cancelled (`cancelled`) or admission stopped (`stopped`). */
export class CancellationError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "CancellationError";

  /** `code` says who ended the wait: `cancelled` the job, `stopped` the Admission. */
  constructor(code: "cancelled" | "stopped", message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** The line, or a table of the kernel, is full. Nothing was taken. Code `queue_full`. */
export class QueueFullError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "QueueFullError";
  /** How many were waiting. */
  readonly queueSize: number;
  /** Milliseconds until the line can move by the clock alone, or null when only an event moves it. */
  readonly retryAfterMs: number | null;

  /** For admission: the message, and what was known of the line. */
  constructor(message: string, facts: { queueSize: number; retryAfterMs: number | null }) {
    super("queue_full", message);
    this.queueSize = facts.queueSize;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** A keyed limiter has as many keys in use as it may have, and the demand names one more. Nothing was taken. Code `keys_full`. */
export class KeysFullError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "KeysFullError";
  /** Name of the keyed limiter. */
  readonly limiter: string;
  /** How many keys it may have. */
  readonly maxKeys: number;
  /** Always null: a key goes out of use by events, or at an instant that nobody looked for. */
  readonly retryAfterMs: number | null = null;

  /** For keyed limiters: the message, and what is full. */
  constructor(message: string, facts: { limiter: string; maxKeys: number }) {
    super("keys_full", message);
    this.limiter = facts.limiter;
    this.maxKeys = facts.maxKeys;
  }
}

/** The wait took longer than the caller allows. Code `timeout`. */
export class TimeoutError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "TimeoutError";
  /** Whole milliseconds from `admit` to here. */
  readonly waitedMs: number;
  /** Names of the accounts that are short now; the one that takes longest by the clock first, then those without a time. */
  readonly waitingOn: readonly string[];
  /** Milliseconds, rounded up, until the demand would fit by the clock alone, or null when only an event can help. */
  readonly retryAfterMs: number | null;

  /** For admission: the message, and what the caller waited on. */
  constructor(
    message: string,
    facts: { waitedMs: number; waitingOn: readonly string[]; retryAfterMs: number | null },
  ) {
    super("timeout", message);
    this.waitedMs = facts.waitedMs;
    this.waitingOn = facts.waitingOn;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** Work inside `run` asks for permits that its own ancestors hold, so the two would wait for each other. Code `nested_demand`. */
export class NestedDemandError extends AdmissionError {
  /** The class's name, also in minified code. */
  override readonly name = "NestedDemandError";
  /** `limiterName` of the gate that can never have enough. */
  readonly account: string;
  /** What each ancestor holds on it, outermost first: for example `http x 2`. */
  readonly ancestors: readonly string[];

  /** For admission: the message, and who holds what. */
  constructor(message: string, facts: { account: string; ancestors: readonly string[] }) {
    super("nested_demand", message);
    this.account = facts.account;
    this.ancestors = facts.ancestors;
  }
}

/** Whether an error is one that an account raises on purpose, with a message fit for a model to read. */
export function isReadableRefusal(error: unknown): error is UncorrectableError | CorrectableError {
  return error instanceof UncorrectableError || error instanceof CorrectableError;
}
