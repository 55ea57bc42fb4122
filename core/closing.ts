import type { Admission } from "./admission.ts";
import type { AdmissionError } from "./errors.ts";
import { collect, messageOf } from "./faults.ts";
import type { Logger } from "./logger.ts";

/** Who wants to hear of the end of an Admission, such as jobs that stand in no line because they pause. */
export class Closing {
  #error: (() => AdmissionError) | null = null;
  readonly #listeners = new Set<(error: AdmissionError) => void>();

  /** Tells everybody, each with an error of its own; what they throw is logged. The first end counts. */
  close(error: () => AdmissionError, logger: Logger): void {
    this.#error ??= error;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    const faults: unknown[] = [];
    for (const listener of listeners) collect(faults, () => listener(error()));
    for (const fault of faults) {
      logger.error(`A listener of the end of admission failed: ${messageOf(fault)}`);
    }
  }

  /** Answers what takes the listener back. */
  listen(listener: (error: AdmissionError) => void): () => void {
    if (this.#error !== null) {
      listener(this.#error());
      return () => {};
    }
    // One function may be given twice.
    const own = (error: AdmissionError) => listener(error);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }
}

/** Follows a promise until admission closes: then it rejects as later callers do, whatever becomes of the promise. */
export async function untilClosed<R>(admission: Admission, promise: PromiseLike<R>): Promise<R> {
  let forget = () => {};
  try {
    return await new Promise<R>((resolve, reject) => {
      promise.then(resolve, reject);
      forget = admission.onClose(reject);
    });
  } finally {
    forget();
  }
}

/** @throws what callers get once admission is closed. */
export function checkOpen(admission: Admission): void {
  const errors: AdmissionError[] = [];
  admission.onClose((error) => errors.push(error))();
  if (errors.length > 0) throw errors[0];
}
