import { checkedTokens, lineError, type LinePlace, type ParsedLine } from "./trace_line.ts";
import { quoted } from "./user_error.ts";

/**
 * Reads one line of JSON, such as `{"timestamp": 27482, "input_length": 6955, "output_length": 52}`: milliseconds (up to
 * four decimals, none lost), tokens sent and tokens answered. Other keys are passed over.
 * @throws UserError naming file and line when the line is anything else.
 */
export function parseJsonLine(place: LinePlace, line: string): ParsedLine {
  const fields = parseObject(place, line);
  return {
    instant: parseTimestamp(place, line, fields.get("timestamp")),
    inputTokens: parseCount(place, "input_length", fields),
    outputTokens: parseCount(place, "output_length", fields),
  };
}

function parseObject(place: LinePlace, line: string): ReadonlyMap<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw lineError(place, `it is ${quoted(line)}, it should be one JSON object`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw lineError(place, `it is ${quoted(line)}, it should be one JSON object`);
  }
  return new Map(Object.entries(value));
}

function parseTimestamp(place: LinePlace, line: string, value: unknown): ParsedLine["instant"] {
  const match = typeof value === "number" ? /^(\d+)(?:\.(\d+))?$/.exec(decimalText(line, value)) : null;
  const wholeMs = Number(match?.[1]);
  const fraction = (match?.[2] ?? "").replace(/0+$/, "");
  if (!Number.isSafeInteger(wholeMs) || fraction.length > 4) {
    const how = "it should be milliseconds from 0 up, with at most four decimals";
    throw lineError(place, `timestamp is ${shown(value)}, ${how}`);
  }
  return { wholeMs, stamps: Number(fraction.padEnd(4, "0")) };
}

/**
 * The decimal digits of the timestamp. A number of milliseconds since 1970 with four decimals has more digits than a
 * double keeps, so they are taken from the line itself where they are found there.
 */
function decimalText(line: string, value: number): string {
  const text = /"timestamp"\s*:\s*(\d+(?:\.\d+)?)\s*[,}]/.exec(line)?.[1];
  return text !== undefined && Number(text) === value ? text : String(value);
}

function parseCount(place: LinePlace, name: string, fields: ReadonlyMap<string, unknown>): number {
  const value = fields.get(name);
  return checkedTokens(place, { name, text: shown(value), value: typeof value === "number" ? value : NaN });
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? quoted(value) : `not a number but ${quoted(JSON.stringify(value))}`;
}
