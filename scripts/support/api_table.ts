/** docs/api.md as text: every export of every entry with its kind and the first sentence of its docstring. */

/** One export of an entry. */
export interface ApiExport {
  readonly name: string;
  readonly kind: string;
  /** Its docstring. */
  readonly doc: string;
}

const HEAD = `# Every export

Written by \`npm run api -- --write\` from the sources; \`npm run ok -- docs\` and the tests fail when it is out of date. What is not
listed here is private and may change in any release.
`;

/** The whole page. What \`./workers\` shares with \`.\` is listed once. */
export function renderApi(entries: readonly (readonly [string, readonly ApiExport[]])[]): string {
  const main = new Set((entries.find(([entry]) => entry === ".") ?? [".", []])[1].map(({ name }) => name));
  return HEAD + entries.map(([entry, all]) => {
    const own = entry === "." ? all : all.filter(({ name }) => !main.has(name));
    const shared = all.length - own.length;
    const rows = own.toSorted((left, right) => left.name < right.name ? -1 : 1).map(renderRow);
    return [
      `\n## ${entry === "." ? "@sluice/admission" : `@sluice/admission/${entry.slice(2)}`}\n`,
      ...(shared > 0 ? [`Everything of \`@sluice/admission\`, and:\n`] : []),
      "| export | kind | what it is |",
      "| --- | --- | --- |",
      ...rows,
      "",
    ].join("\n");
  }).join("");
}

function renderRow({ name, kind, doc }: ApiExport): string {
  return `| \`${name}\` | ${kind} | ${firstSentence(doc)} |`;
}

/** Up to the first full stop that ends a sentence; a colon, a bracket or "e.g." does not. */
function firstSentence(doc: string): string {
  const text = doc.split(/\n\s*\n/)[0]?.replace(/\s+/g, " ").trim() ?? "";
  return (/^.*?[.!?](?=\s+[A-Z\`]|$)/.exec(text)?.[0] ?? text).replaceAll("|", "\\|");
}

/** The exports named on a page: entry, name and kind, without the words. */
export function apiLines(page: string): Set<string> {
  const lines = new Set<string>();
  let entry = "";
  for (const line of page.split("\n")) {
    entry = /^## (.*)$/.exec(line)?.[1] ?? entry;
    const [, name, kind] = /^\| \`([^\`]+)\` +\| ([^|]*?) +\|/.exec(line) ?? [];
    if (name !== undefined) lines.add(`${entry} ${name} (${kind})`);
  }
  return lines;
}
