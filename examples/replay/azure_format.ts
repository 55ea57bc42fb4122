import { checkedTokens, lineError, type LinePlace, type ParsedLine } from "./trace_line.ts";
import { quoted } from "./user_error.ts";

/** The first line of a trace in the format of the Azure LLM inference traces. */
export const AZURE_HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";

/**
 * Reads one row, such as `2023-11-16 18:17:03.9799600,4808,10`: an instant with up to seven fractional digits (100 ns,
 * none lost), tokens sent and tokens answered. A UTC mark (`Z`, `+00:00`, as in the traces of 2024) may follow the time.
 * @throws UserError naming file and line when the row is anything else.
 */
export function parseAzureLine(place: LinePlace, line: string): ParsedLine {
  const fields = line.split(",");
  const [time, input, output] = fields;
  if (time === undefined || input === undefined || output === undefined || fields.length !== 3) {
    throw lineError(place, `it is ${quoted(line)}, it should have three fields: ${AZURE_HEADER}`);
  }
  return {
    instant: parseInstant(place, time),
    inputTokens: parseCount(place, "ContextTokens", input),
    outputTokens: parseCount(place, "GeneratedTokens", output),
  };
}

const INSTANT = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,7}))?(?:Z|\+00:00)?$/;

function parseInstant(place: LinePlace, text: string): ParsedLine["instant"] {
  const match = INSTANT.exec(text);
  if (match === null) throw badInstant(place, text);
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  const isRealDay = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 &&
    date.getUTCDate() === day;
  if (!isRealDay || hour > 23 || minute > 59 || second > 59) throw badInstant(place, text);
  const fraction = (match[7] ?? "").padEnd(7, "0");
  const secondsOfDay = (hour * 60 + minute) * 60 + second;
  return {
    wholeMs: date.getTime() + secondsOfDay * 1_000 + Number(fraction.slice(0, 3)),
    stamps: Number(fraction.slice(3)),
  };
}

function badInstant(place: LinePlace, text: string): Error {
  return lineError(
    place,
    `TIMESTAMP is ${quoted(text)}, it should be a time like 2023-11-16 18:17:03.9799600`,
  );
}

function parseCount(place: LinePlace, name: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  return checkedTokens(place, { name, text: quoted(text), value });
}
