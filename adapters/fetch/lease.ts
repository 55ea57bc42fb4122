import { onAbort } from "./abort_listeners.ts";

/** How the use of a response's body ended: read to its end, left half-way, or broken off with an error. */
export type Ending =
  | { readonly how: "whole" | "left" }
  | { readonly how: "failed"; readonly error: unknown };

/** A body that is read: as much of a reader as is needed. */
export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** What is left to be done for a body that was collected unread. */
interface Abandoned {
  readonly lease: Lease;
  readonly reader: BodyReader;
}

/** Hears of bodies that nobody can read any more: the last resort. Older workerd dates have none, there they are kept. */
const abandoned = typeof FinalizationRegistry === "function"
  ? new FinalizationRegistry<Abandoned>(({ lease, reader }) => {
    lease.end({ how: "left" });
    reader.cancel().catch(() => {});
  })
  : null;

/**
 * The permits of one response. They are given back once, by whatever ends the use of the body first: its end, an error, a cancel,
 * an abort, or its collection. A lease must not lead to the response or its body, or that last one never happens.
 */
export class Lease {
  readonly #finish: (ending: Ending) => void;
  #stopListening: () => void = () => {};
  #reader: BodyReader | null = null;
  #isEnded = false;

  /** `finish` is called once and must not throw. */
  constructor(finish: (ending: Ending) => void, signal: AbortSignal | null) {
    this.#finish = finish;
    if (signal !== null) {
      this.#stopListening = onAbort(signal, () => {
        this.end({ how: "failed", error: signal.reason });
        // Deno ends a body on its own only while somebody keeps the response that it came with (2.9.6), and a fetch of one's
        // own may not listen at all.
        this.#reader?.cancel(signal.reason).catch(() => {});
      });
    }
  }

  /** Ends the lease; the second time it does nothing. */
  end(ending: Ending): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopListening();
    abandoned?.unregister(this);
    this.#finish(ending);
  }

  /** Ends the lease when the body is collected, and the reader when the signal aborts. */
  watch(body: object, reader: BodyReader): void {
    if (this.#isEnded) return void reader.cancel().catch(() => {}); // It has aborted already.
    this.#reader = reader;
    abandoned?.register(body, { lease: this, reader }, this);
  }
}
