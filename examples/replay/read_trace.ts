import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { AZURE_HEADER, parseAzureLine } from "./azure_format.ts";
import { parseJsonLine } from "./json_lines_format.ts";
import type { Trace } from "./trace.ts";
import { lineError, RowBuilder } from "./trace_line.ts";
import { quoted, systemReason, UserError } from "./user_error.ts";

/** The largest file that is read, in bytes: its text must fit into one string. */
export const MAX_TRACE_BYTES = 268_435_456;

/** The most requests of a trace: their JSON lines must fit into one string. */
export const MAX_TRACE_ROWS = 1_000_000;

/**
 * Reads a trace of LLM traffic: the Azure LLM trace format, or JSON lines with `timestamp`, `input_length` and
 * `output_length`. The format is told by the first character, not by the file's name.
 * @param path where the file is
 * @param shownAs the file as the user wrote it, for error messages
 * @throws UserError naming the file, and the line where there is one.
 */
export function readTrace(path: string, shownAs: string = path): Trace {
  return { name: basename(path), rows: parseTrace(readText(path, shownAs), shownAs).rows };
}

/**
 * Parses the text of a trace. A byte order mark, CRLF and blank lines at the end are accepted.
 * @throws UserError naming `file` and the line that is wrong.
 */
export function parseTrace(
  text: string,
  file: string,
  maxRows: number = MAX_TRACE_ROWS,
): Pick<Trace, "rows"> {
  const lines = text.replace(/^\ufeff/, "").trimEnd().split(/\r?\n/);
  const [first = ""] = lines;
  if (first === "" && lines.length === 1) throw lineError({ file, line: 1 }, `it is empty, ${EXPECTED}`);
  const isJson = first.startsWith("{");
  if (!isJson && first !== AZURE_HEADER) {
    throw lineError({ file, line: 1 }, `it is ${quoted(first)}, ${EXPECTED}`);
  }
  const parseLine = isJson ? parseJsonLine : parseAzureLine;
  const builder = new RowBuilder(maxRows);
  for (let index = isJson ? 0 : 1; index < lines.length; index++) {
    const place = { file, line: index + 1 };
    builder.add(place, parseLine(place, lines[index] ?? ""));
  }
  if (builder.rows.length === 0) {
    throw lineError({ file, line: 2 }, "it is missing, requests should follow the header");
  }
  return { rows: builder.rows };
}

const EXPECTED = `it should be the header ${AZURE_HEADER}, or the first of many lines of JSON ` +
  `like {"timestamp": 0, "input_length": 6955, "output_length": 52}`;

function readText(path: string, shownAs: string): string {
  let bytes: Uint8Array;
  try {
    const size = statSync(path).size;
    if (size > MAX_TRACE_BYTES) {
      throw new UserError(
        `Cannot read ${shownAs}: it has ${size} bytes, it should have at most ${MAX_TRACE_BYTES}.`,
      );
    }
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`Cannot read ${shownAs}: ${systemReason(error)}.`);
  }
  return new TextDecoder().decode(bytes);
}
