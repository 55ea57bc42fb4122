/** What a test runner said about each case, read from its JUnit report, and how two runners' verdicts differ. */

/** How one case ended. */
export type Verdict = "passed" | "failed" | "skipped";

/** The verdicts of one test file on one runtime: a title that occurs twice has two. */
export type Verdicts = ReadonlyMap<string, readonly Verdict[]>;

/** Numbers of cases by verdict. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}

/** Reads a JUnit report as Deno and Bun write it. */
export function readJUnit(xml: string): Verdicts {
  const verdicts = new Map<string, Verdict[]>();
  for (
    const [, attributes = "", body = ""] of xml.matchAll(
      /<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
    )
  ) {
    const title = unescapeXml(/\bname="([^"]*)"/.exec(attributes)?.[1] ?? "");
    const verdict = /<(failure|error)\b/.test(body)
      ? "failed"
      : /<skipped\b/.test(body)
      ? "skipped"
      : "passed";
    verdicts.set(title, [...(verdicts.get(title) ?? []), verdict]);
  }
  return verdicts;
}

/** The verdicts of each file, of a report on several whose titles begin with their file. */
export function splitVerdicts(verdicts: Verdicts, files: readonly string[]): Map<string, Verdicts> {
  const parts = new Map(files.map((file) => [file, new Map<string, readonly Verdict[]>()]));
  for (const [title, each] of verdicts) {
    const end = title.indexOf(" > ");
    parts.get(title.slice(0, end))?.set(title.slice(end + 3), each);
  }
  return parts;
}

/** Counts the cases of some files. */
export function countVerdicts(all: Iterable<Verdicts>): Counts {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const verdicts of all) {
    for (const verdict of [...verdicts.values()].flat()) counts[verdict]++;
  }
  return counts;
}

/** One line for each title whose verdicts are not the same in both; empty when they agree. */
export function compareVerdicts(left: [string, Verdicts], right: [string, Verdicts]): string[] {
  const titles = new Set([...left[1].keys(), ...right[1].keys()]);
  return [...titles].flatMap((title) => {
    const [first, second] = [left, right].map(([, verdicts]) =>
      [...(verdicts.get(title) ?? ["absent"])].sort().join(", ")
    );
    return first === second ? [] : [`${title}: ${first} on ${left[0]}, ${second} on ${right[0]}`];
  });
}

/** The verdicts of two runtimes as one: a case passes, or is skipped, when it does so on both, and fails otherwise. */
export function mergeVerdicts(left: Verdicts, right: Verdicts): Verdicts {
  const merged = new Map<string, Verdict[]>();
  for (const title of new Set([...left.keys(), ...right.keys()])) {
    const first = [...(left.get(title) ?? [])].sort();
    const second = [...(right.get(title) ?? [])].sort();
    const count = Math.max(first.length, second.length);
    merged.set(
      title,
      Array.from({ length: count }, (_, index) => {
        const verdict = first[index];
        return verdict !== undefined && verdict === second[index] ? verdict : "failed";
      }),
    );
  }
  return merged;
}
