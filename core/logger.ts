import { show } from "./invariant.ts";

/** Facts beside a message. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where messages for operators go. What it throws, or a promise it returns rejects with, is dropped. */
export interface Logger {
  /** What operators may like to know: caps that changed, a circuit that closed, a latch that cleared. */
  info(message: string, fields?: LogFields): unknown;
  /** What may need a look: failures upstream, a circuit that opened, a latch that set, a grant held too long. */
  warn(message: string, fields?: LogFields): unknown;
  /** Faults: an account or a reader that failed, a settlement that failed, a defect that closes admission. */
  error(message: string, fields?: LogFields): unknown;
}

const LEVELS = ["info", "warn", "error"] as const;

const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * A logger that can be called without care: silent when none is given, and nothing that goes wrong in it comes back.
 *
 * @throws TypeError when the object given lacks a level.
 */
export function safeLogger(logger: Logger | undefined | null): Logger {
  if (logger === undefined || logger === null) return SILENT;
  const missing = LEVELS.find((level) => typeof logger[level] !== "function");
  if (missing !== undefined) {
    throw new TypeError(
      `Cannot use logger: ${show(logger)} has no ${missing}(), it should have info, warn and error`,
    );
  }
  const safe = (level: (typeof LEVELS)[number]) => (message: string, fields?: LogFields) =>
    dropFaults(() => fields === undefined ? logger[level](message) : logger[level](message, fields));
  return { info: safe("info"), warn: safe("warn"), error: safe("error") };
}

/** Calls user code whose faults are nobody's business: a throw or a rejected promise is dropped. */
export function dropFaults(call: () => unknown): void {
  try {
    const result = call();
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === "function") {
      Promise.resolve(result).catch(() => {});
    }
  } catch {
    // Dropped by rule BEY-12.
  }
}
