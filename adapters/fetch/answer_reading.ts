import { EventStream } from "./event_stream.ts";
import { JsonMembers } from "./json_members.ts";
import type { ResponseUsage } from "./counted_tokens.ts";

/** What is read off a successful response's body while it passes by. */
export interface AnswerReading {
  /** Reads a chunk; keeps nothing of it but what it looks for. */
  write(chunk: Uint8Array): void;
  /**
   * What the response said of its usage, or null when it did not, or not for good: the usage of a stream that was left half-way
   * is that of the half.
   *
   * @param isWhole whether the body was read to its end.
   */
  usage(isWhole: boolean): ResponseUsage | null;
  /** What went wrong upstream after the response had begun, as the stream told it; null when nothing. */
  readonly fault: object | null;
}

/**
 * How a body of that type is read: JSON and server-sent events. Null for any other.
 *
 * Shapes: OpenAI's chat, embeddings and responses, and Anthropic's messages
 * (https://platform.openai.com/docs/api-reference/chat-streaming, https://docs.claude.com/en/docs/build-with-claude/streaming).
 */
export function answerReading(contentType: string | null): AnswerReading | null {
  const type = (contentType ?? "").slice(0, 100).split(";", 1)[0]!.trim().toLowerCase();
  if (type === "text/event-stream") return new StreamReading();
  return type === "application/json" || type.endsWith("+json") ? new JsonReading() : null;
}

class JsonReading implements AnswerReading {
  readonly #members = new JsonMembers(["usage"]);

  get fault(): null {
    return null;
  }

  write(chunk: Uint8Array): void {
    for (const byte of chunk) this.#members.write(byte);
  }

  usage(): ResponseUsage | null {
    return objectOf(this.#members.take().get("usage"));
  }
}

const MEMBERS: readonly string[] = [
  "type",
  "code",
  "usage",
  "error",
  "message.usage",
  "response.usage",
  "response.error",
];
/** Events whose usage is that of the whole answer. */
const LAST_EVENTS: readonly unknown[] = [
  "message_delta",
  "response.completed",
  "response.incomplete",
  "response.failed",
];
/** What OpenAI's chat sends last. */
const DONE = "[DONE]";

class StreamReading implements AnswerReading {
  readonly #members = new JsonMembers(MEMBERS);
  readonly #events: EventStream;
  #usage: ResponseUsage | null = null;
  /** Whether the usage counts although more of the stream may come. */
  #isFinal = false;
  /** Whether it counts only when it is final: Anthropic tells the input first and the output last. */
  #comesInParts = false;
  #fault: object | null = null;
  /** How much of an event's data is the text that ends a chat, null when it differs. */
  #doneLength: number | null = 0;

  constructor() {
    this.#events = new EventStream({
      data: (byte) => this.#data(byte),
      dispatch: () => this.#dispatch(),
    });
  }

  get fault(): object | null {
    return this.#fault;
  }

  write(chunk: Uint8Array): void {
    this.#events.write(chunk);
  }

  usage(isWhole: boolean): ResponseUsage | null {
    return this.#isFinal || (isWhole && !this.#comesInParts) ? this.#usage : null;
  }

  #data(byte: number): void {
    const length = this.#doneLength;
    this.#doneLength = length !== null && byte === DONE.charCodeAt(length) ? length + 1 : null;
    this.#members.write(byte);
  }

  #dispatch(): void {
    const isDone = this.#doneLength === DONE.length;
    this.#doneLength = 0;
    const members = this.#members.take();
    if (isDone) this.#isFinal = true;
    else this.#read(members);
  }

  #read(members: ReadonlyMap<string, unknown>): void {
    const type = members.get("type");
    const begun = objectOf(members.get("message.usage"));
    const usage = begun ?? objectOf(members.get("usage")) ?? objectOf(members.get("response.usage"));
    if (usage !== null) {
      // The numbers of Anthropic's later events replace the earlier ones; what they leave out or have as null stands.
      const told = Object.entries(usage).filter(([, value]) => value !== null);
      this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
      this.#comesInParts ||= begun !== null;
      if (LAST_EVENTS.includes(type)) this.#isFinal = true;
    }
    this.#fault ??= objectOf(members.get("error")) ?? objectOf(members.get("response.error")) ??
      (type === "error" ? { type, code: members.get("code") } : null);
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : null;
}
