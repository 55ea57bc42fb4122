const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** Names are looked for in the outermost object and in the objects right inside it. */
const MAX_DEPTH = 2;
/** Longest name that is told from others, in bytes. */
const MAX_NAME_BYTES = 32;
/** Longest value that is kept, in bytes; a longer one reads as absent. */
const MAX_VALUE_BYTES = 16_384;

/** A value that is being kept. */
interface Value {
  readonly path: string;
  readonly depth: number;
  readonly bytes: number[];
}

/**
 * Picks a few members out of a JSON text that arrives byte by byte, without keeping the text: what it holds is bounded, whatever
 * comes. Junk finds nothing and never throws. Names written with escapes are not recognised; no provider writes them so.
 */
export class JsonMembers {
  /** Names to look for: `usage`, or `response.usage` for a member of a member. */
  readonly #wanted: ReadonlySet<string>;
  #found = new Map<string, unknown>();
  #depth = 0;
  /** By depth, down to the deepest that matters: whether it is an object, and the name that it is at. */
  readonly #isObject: boolean[] = [];
  readonly #names: string[] = [];
  #isInString = false;
  #isEscaped = false;
  #expectsName = false;
  #name: number[] | null = null;
  #value: Value | null = null;

  constructor(wanted: readonly string[]) {
    this.#wanted = new Set(wanted);
  }

  /** The members found since the last `take`, by their names. A new text begins with the next byte. */
  take(): ReadonlyMap<string, unknown> {
    const found = this.#found;
    this.#found = new Map();
    this.#depth = 0;
    this.#isInString = this.#isEscaped = this.#expectsName = false;
    this.#name = this.#value = null;
    return found;
  }

  /** Reads one more byte. */
  write(byte: number): void {
    if (this.#isInString) return this.#inString(byte);
    switch (byte) {
      case QUOTE:
        this.#isInString = true;
        if (this.#expectsName) this.#name = [];
        else this.#keep(byte);
        return;
      case COLON:
        return this.#beginValue();
      case COMMA:
        return this.#nextMember();
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        return this.#open(byte);
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        return this.#close(byte);
      default:
        this.#keep(byte);
    }
  }

  #inString(byte: number): void {
    const isEnd = byte === QUOTE && !this.#isEscaped;
    if (this.#name === null) this.#keep(byte);
    else if (!isEnd && this.#name.length <= MAX_NAME_BYTES) this.#name.push(byte);
    this.#isEscaped = byte === BACKSLASH && !this.#isEscaped;
    if (!isEnd) return;
    this.#isInString = false;
    if (this.#name !== null) this.#names[this.#depth] = String.fromCharCode(...this.#name);
    this.#name = null;
  }

  #beginValue(): void {
    if (this.#value !== null) return this.#keep(COLON);
    this.#expectsName = false;
    if (this.#depth < 1 || this.#depth > MAX_DEPTH || this.#isObject[this.#depth] !== true) return;
    const path = this.#names.slice(1, this.#depth + 1).join(".");
    if (this.#wanted.has(path)) this.#value = { path, depth: this.#depth, bytes: [] };
  }

  #nextMember(): void {
    if (this.#value?.depth === this.#depth) this.#endValue();
    else this.#keep(COMMA);
    this.#expectsName = this.#value === null && this.#depth <= MAX_DEPTH &&
      this.#isObject[this.#depth] === true;
  }

  #open(byte: number): void {
    this.#keep(byte);
    this.#depth++;
    if (this.#depth > MAX_DEPTH) return;
    this.#isObject[this.#depth] = byte === OPEN_OBJECT;
    this.#names[this.#depth] = "";
    this.#expectsName = byte === OPEN_OBJECT && this.#value === null;
  }

  #close(byte: number): void {
    if (this.#value?.depth === this.#depth) this.#endValue();
    else this.#keep(byte);
    if (this.#depth > 0) this.#depth--;
    this.#expectsName = false;
  }

  #keep(byte: number): void {
    const bytes = this.#value?.bytes;
    if (bytes !== undefined && bytes.length <= MAX_VALUE_BYTES) bytes.push(byte);
  }

  #endValue(): void {
    const { path, bytes } = this.#value!;
    this.#value = null;
    if (bytes.length > MAX_VALUE_BYTES) return;
    try {
      this.#found.set(path, JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes))));
    } catch {
      // Junk reads as absent.
    }
  }
}
