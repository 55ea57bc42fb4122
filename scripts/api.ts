/**
 * `npm run api`: compares docs/api.md with what the entries export, a line for each difference; `-- --write` writes it anew.
 *
 * So a new export, a lost one, or a type that became a value is seen in the diff of a file: a conscious act.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type ApiExport, apiLines, renderApi } from "./support/api_table.ts";
import { ENTRIES, ROOT, runTool } from "./support/project.ts";

const PAGE = join(ROOT, "docs/api.md");

/** The parts of `deno doc --json` that are read. */
interface Documented {
  readonly nodes: Record<string, { readonly symbols: readonly DocumentedSymbol[] }>;
}

interface DocumentedSymbol {
  readonly name: string;
  readonly declarations: readonly { readonly kind: string; readonly jsDoc?: { readonly doc?: string } }[];
}

/** What an entry exports, by name. A class that is exported as a type only is told from one that can be constructed. */
async function exportsOf(path: string): Promise<ApiExport[]> {
  const { status, output } = runTool("deno", ["doc", "--quiet", "--json", path], { capture: true });
  if (status !== 0) throw new Error(`Cannot list the exports of ${path}: deno doc failed.\n${output}`);
  const symbols = Object.values((JSON.parse(output) as Documented).nodes).flatMap((node) => node.symbols);
  const values = new Set(Object.keys(await import(join(ROOT, path)) as object));
  return symbols.map(({ name, declarations }) => {
    const kinds = new Set(declarations.map(({ kind }) => kind));
    const isTypeOnly = kinds.has("class") && !values.has(name);
    const kind = isTypeOnly
      ? "class, its type only"
      : [...kinds].map((each) => KINDS[each] ?? each).join(", ");
    return { name, kind, doc: declarations.find(({ jsDoc }) => jsDoc?.doc)?.jsDoc?.doc ?? "" };
  });
}

const KINDS: Readonly<Record<string, string>> = { typeAlias: "type", variable: "constant" };

async function main(isWriting: boolean): Promise<number> {
  const entries: [string, ApiExport[]][] = [];
  for (const [entry, path] of Object.entries(ENTRIES)) entries.push([entry, await exportsOf(path)]);
  const page = renderApi(entries);
  if (isWriting) writeFileSync(PAGE, page);
  const [was, is] = [existsSync(PAGE) ? readFileSync(PAGE, "utf8") : "", page].map(apiLines);
  const added = [...is ?? []].filter((line) => !was?.has(line)).map((line) => `docs/api.md lacks: ${line}`);
  const lost = [...was ?? []].filter((line) => !is?.has(line)).map((line) =>
    `docs/api.md has, and no entry: ${line}`
  );
  for (const line of [...added, ...lost]) console.error(line);
  if (added.length + lost.length > 0) console.error("If that is meant: npm run api -- --write");
  console.log(`api: ${is?.size ?? 0} exports of ${entries.length} entries`);
  return added.length + lost.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.includes("--write"));
