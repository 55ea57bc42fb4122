const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;

const DATA = "data";

/** Where the reader is in a line. */
type Place = "field" | "after colon" | "value" | "skipped";

/** Who hears of the events of a stream. */
export interface EventListener {
  /** One more byte of an event's data. The line feed between two lines of it is left out: in JSON it says nothing. */
  data(byte: number): void;
  /** The event is complete. */
  dispatch(): void;
}

/**
 * Finds the data in a stream of server-sent events that arrives in chunks cut anywhere, by the rules of
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream: lines end in CR, LF or both, an empty
 * line ends an event, what stands before the first colon is the field. It keeps nothing but its place.
 */
export class EventStream {
  readonly #listener: EventListener;
  #place: Place = "field";
  /** How many bytes of the line have been read as its field, all of them like `data` so far. */
  #fieldLength = 0;
  #isLineEmpty = true;
  #isAfterCR = false;
  #hasData = false;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  /** Reads a chunk. */
  write(chunk: Uint8Array): void {
    for (const byte of chunk) {
      const isSecondHalf = byte === LF && this.#isAfterCR;
      this.#isAfterCR = byte === CR;
      if (isSecondHalf) continue;
      if (byte === LF || byte === CR) this.#endLine();
      else this.#inLine(byte);
    }
  }

  #inLine(byte: number): void {
    this.#isLineEmpty = false;
    if (this.#place === "value") return this.#listener.data(byte);
    if (this.#place === "skipped") return;
    if (this.#place === "after colon") {
      this.#place = "value";
      // One space after the colon belongs to the form.
      if (byte !== SPACE) this.#listener.data(byte);
    } else if (byte === COLON) {
      const isData = this.#fieldLength === DATA.length;
      this.#place = isData ? "after colon" : "skipped";
      this.#hasData ||= isData;
    } else if (byte === DATA.charCodeAt(this.#fieldLength)) this.#fieldLength++;
    else this.#place = "skipped";
  }

  #endLine(): void {
    if (this.#isLineEmpty && this.#hasData) {
      this.#hasData = false;
      this.#listener.dispatch();
    }
    this.#place = "field";
    this.#fieldLength = 0;
    this.#isLineEmpty = true;
  }
}
