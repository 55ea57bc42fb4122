/** The replay's inputs: trace formats, options, and made-up traffic. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { GENERATED_REQUESTS, generateTrace } from "../examples/replay/generate_trace.ts";
import { DEFAULT_LIMITS } from "../examples/replay/limits.ts";
import { parseOptions } from "../examples/replay/options.ts";
import { parseTrace } from "../examples/replay/read_trace.ts";
import { tokensOf } from "../examples/replay/trace.ts";
import { UserError } from "../examples/replay/user_error.ts";

const HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens";
const ROW = "2023-11-16 18:17:03.9799600,4808,10";

function arrivals(text: string): number[] {
  return parseTrace(text, "t").rows.map((row) => row.arrivalStamps);
}

function refuses(text: string, expected: RegExp): void {
  assert.throws(() => parseTrace(text, "dir/t.csv"), (error: unknown) => {
    assert.ok(error instanceof UserError);
    assert.match(error.message, expected);
    assert.match(error.message, /^Cannot read dir\/t\.csv, line \d+: .*\.$/);
    return true;
  });
}

describe("replay: the Azure format", () => {
  it("all seven fractional digits count, also across midnight, leap days and years", () => {
    assert.deepEqual(
      arrivals(
        `${HEADER}\n2023-12-31 23:59:59.9999999,1,2\n2024-01-01 00:00:00.0000000,1,2\n` +
          "2024-02-29 00:00:00.0000001,1,2\n",
      ),
      [0, 1, 59 * 864_000_000_000 + 2],
    );
  });

  it("a byte order mark, CRLF, a missing last newline and blank lines at the end are read", () => {
    const expected = parseTrace(`${HEADER}\n${ROW}\n${ROW}\n`, "t").rows;
    for (
      const text of [
        `\ufeff${HEADER}\r\n${ROW}\r\n${ROW}`,
        `${HEADER}\r\n${ROW}\r\n${ROW}\r\n\r\n`,
        `${HEADER}\n${ROW}\n${ROW}`,
      ]
    ) assert.deepEqual(parseTrace(text, "t").rows, expected);
  });

  it("shorter fractions and a UTC mark are read, as later Azure traces have them", () => {
    assert.deepEqual(
      arrivals(
        `${HEADER}\n2024-05-10 00:00:00,1,2\n2024-05-10 00:00:00.5+00:00,1,2\n2024-05-10 00:00:01.000001Z,1,2`,
      ),
      [0, 5_000_000, 10_000_010],
    );
  });

  it("what is not a row names file and line", () => {
    const bad = (line: string, expected: RegExp) => refuses(`${HEADER}\n${ROW}\n${line}\n${ROW}\n`, expected);
    bad("nonsense", /line 3: it is "nonsense", it should have three fields/);
    bad(`${ROW},1`, /line 3: .*three fields/);
    bad("", /line 3: .*three fields/);
    bad("2023-11-16 18:17:04.0000000,-5,10", /line 3: ContextTokens is "-5", it should be a whole number/);
    bad("2023-11-16 18:17:04.0000000,5,1.5", /line 3: GeneratedTokens is "1.5"/);
    bad("2023-11-16 18:17:04.0000000,abc,1", /line 3: ContextTokens is "abc"/);
    bad("2023-11-16 18:17:04.0000000,,1", /line 3: ContextTokens is ""/);
    bad("2023-11-16 18:17:04.0000000,1e3,1", /line 3: ContextTokens is "1e3"/);
    bad("2023-11-16 18:17:04.0000000, 7,1", /line 3: ContextTokens is " 7"/);
    bad("2023-11-16 18:17:04.0000000,2147483648,1", /line 3: ContextTokens is "2147483648"/);
    bad("2023-11-16 18:17:04.0000000,2147483647,1", /line 3: it has 2147483648 tokens in all/);
    bad("2023-11-16 18:17:04.00000001,5,1", /line 3: TIMESTAMP is .*it should be a time like/);
    bad("2023-02-29 18:17:04.0000000,5,1", /line 3: TIMESTAMP/);
    bad("2023-11-16 24:00:00.0000000,5,1", /line 3: TIMESTAMP/);
    bad("yesterday,5,1", /line 3: TIMESTAMP is "yesterday"/);
    bad("2023-11-16 18:17:03.9799599,5,1", /line 3: it is 0.0001 ms earlier than the request before it/);
    bad("2043-11-16 18:17:03.9799599,5,1", /line 3: .*more than ten years/);
  });

  it("a trace may have so many requests, and no more", () => {
    const text = `${HEADER}\n${ROW}\n${ROW}\n${ROW}\n`;
    assert.equal(parseTrace(text, "t", 3).rows.length, 3);
    assert.throws(
      () => parseTrace(text, "t", 2),
      /^UserError: Cannot read t, line 4: it is one too many, .* at most 2/,
    );
  });

  it("a wrong header, an empty file and a header alone are refused", () => {
    refuses("", /line 1: it is empty, it should be the header TIMESTAMP/);
    refuses("\ufeff\r\n", /line 1: it is empty/);
    refuses(`time,in,out\n${ROW}`, /line 1: it is "time,in,out", it should be the header/);
    refuses(ROW, /line 1: .*it should be the header/);
    refuses(`${HEADER}\n`, /line 2: it is missing/);
    refuses("\u001b[2J\u0000\u009b", /line 1: it is "\\u001b\[2J\\u0000\ufffd"/);
  });
});

describe("replay: JSON lines", () => {
  const line = (timestamp: string) =>
    `{"timestamp": ${timestamp}, "input_length": 3, "output_length": 4, "hash_ids": [1]}`;

  it("instants are relative to the first line, and up to four decimals are kept", () => {
    assert.deepEqual(arrivals(`${line("27482")}\n${line("27482.5")}\r\n${line("30535.0001")}\n`), [
      0,
      5_000,
      30_530_001,
    ]);
    assert.deepEqual(
      arrivals(`\ufeff${line("1700161063979.9599")}\n${line("1700161063979.9600")}\n`),
      [0, 1],
    );
    assert.equal(parseTrace(line("0"), "t").rows.map(tokensOf)[0], 7);
  });

  it("what is not a line of the format names file and line", () => {
    const bad = (text: string, expected: RegExp) => refuses(`${line("5")}\n${text}\n`, expected);
    bad("{", /line 2: it is "\{", it should be one JSON object/);
    bad("[1]", /line 2: .*one JSON object/);
    bad("null", /line 2: .*one JSON object/);
    refuses(`${line("5")}\n\n${line("6")}\n`, /line 2: it is "", it should be one JSON object/);
    bad(line("4"), /line 2: it is 1 ms earlier/);
    bad(line("-1"), /line 2: timestamp is -1, it should be milliseconds/);
    bad(line('"7"'), /line 2: timestamp is "7"/);
    bad(line("1e400"), /line 2: timestamp is Infinity/);
    bad(line("6.00001"), /line 2: timestamp is 6.00001, .*at most four decimals/);
    bad('{"input_length": 3, "output_length": 4}', /line 2: timestamp is missing/);
    bad(
      '{"timestamp": 6, "output_length": 4}',
      /line 2: input_length is missing, it should be a whole number/,
    );
    bad('{"timestamp": 6, "input_length": 3, "output_length": -4}', /line 2: output_length is -4/);
    bad('{"timestamp": 6, "input_length": 3.5, "output_length": 4}', /line 2: input_length is 3.5/);
    bad('{"timestamp": 6, "input_length": "3", "output_length": 4}', /line 2: input_length is "3"/);
    bad(ROW, /line 2: .*one JSON object/);
  });
});

describe("replay: options", () => {
  it("without any, made-up traffic under the default limits", () => {
    const options = parseOptions([]);
    assert.deepEqual(options.limits, DEFAULT_LIMITS);
    assert.deepEqual([options.file, options.json, options.plot, options.runtime], [null, null, null, null]);
  });

  it("values follow an option or an equals sign; the last one counts", () => {
    const options = parseOptions([
      "--tpm",
      "5",
      "--rpm=6",
      "a.csv",
      "--tpm=7",
      "--json",
      "o=1.jsonl",
      "--runtime=bun",
    ]);
    assert.deepEqual(options.limits, { ...DEFAULT_LIMITS, tpm: 7, rpm: 6 });
    assert.deepEqual([options.file, options.json, options.runtime], ["a.csv", "o=1.jsonl", "bun"]);
  });

  it("a bad one is refused with its name, its value and what would do", () => {
    const refused = (args: string[], expected: RegExp) =>
      assert.throws(() => parseOptions(args), (error: unknown) => {
        assert.ok(error instanceof UserError);
        assert.match(error.message, expected);
        return true;
      });
    for (const value of ["0", "-5", "x", "1.5", "1e3", "NaN", "100000001", " 5"]) {
      refused(["--tpm", value], /^Cannot use --tpm ".*": it should be a whole number from 1 to 100000000\.$/);
    }
    refused(["--http"], /^Cannot use the option --http: it has no value, it should be like --http 64\.$/);
    refused(["--json", "--tpm", "5"], /--json: it has no value/);
    refused(["--db="], /--db: it has no value/);
    refused(["--tmp", "5"], /^Cannot use the option "--tmp": it should be one of --tpm, --rpm/);
    refused(["-x"], /"-x"/);
    refused(["--runtime", "node"], /--runtime "node": it should be deno or bun/);
    refused(["a.csv", "b.csv"], /"a.csv" and "b.csv": name one file/);
    refused([""], /name a file/);
    refused(["a.csv", "--seed", "2"], /--seed with a file/);
  });
});

describe("replay: made-up traffic", () => {
  it("the same seed makes the same traffic, on every runtime", () => {
    const trace = generateTrace(1);
    assert.equal(trace.rows.length, GENERATED_REQUESTS);
    assert.deepEqual(trace, generateTrace(1));
    assert.notDeepEqual(trace.rows, generateTrace(2).rows);
    const mix = trace.rows.reduce(
      (sum, row) => (sum * 31 + row.arrivalStamps + tokensOf(row)) % 1_000_003,
      0,
    );
    assert.equal(mix, EXPECTED_MIX);
  });

  it("it is in order, starts at 0, and has exactly two requests that the default quota can never hold", () => {
    const { rows } = generateTrace(7);
    assert.equal(rows[0]?.arrivalStamps, 0);
    rows.forEach((row, index) => assert.ok(row.arrivalStamps >= (rows[index - 1]?.arrivalStamps ?? 0)));
    assert.equal(rows.filter((row) => tokensOf(row) > DEFAULT_LIMITS.tpm).length, 2);
  });
});

const EXPECTED_MIX = 174_301;
