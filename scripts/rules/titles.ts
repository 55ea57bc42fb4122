/** The titles of suites and cases in a source file, and the rule ids they name. */
import { isNode, memberName, nameOf, type Node, parseSource, walk } from "../tidy/source.ts";

/** One title that names a rule. */
export interface Title {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly ids: readonly string[];
}

/** A title that names more rules than this shows none of them. */
const MAX_IDS = 3;
/** Words that look like ids. */
const NO_IDS = new Set(["UTF-16"]);

/** The fixed text of a string or template; null for anything else. */
function literalText(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === "StringLiteral") return String(value["value"]);
  if (value.type !== "TemplateLiteral") return null;
  return (value["quasis"] as { value: { cooked: string } }[]).map((each) => each.value.cooked).join("...");
}

function titleOf(node: Node): string | null {
  if (node.type !== "CallExpression" || !isNode(node["callee"])) return null;
  const name = nameOf(node["callee"]) ?? memberName(node["callee"])?.split(".").at(-1) ?? "";
  // A skipped case shows nothing, so `it.skip` is not looked at.
  return ["it", "describe"].includes(name) ? literalText((node["arguments"] as unknown[])[0]) : null;
}

/** The titles in a file that name at least one rule. */
export function listTitles(path: string, text: string): Title[] {
  const titles: Title[] = [];
  walk(parseSource(path, text).body, (node) => {
    const title = titleOf(node);
    if (title === null) return;
    const ids = (title.match(/\b[A-Z]{2,3}-\d{2}\b/g) ?? []).filter((id) => !NO_IDS.has(id));
    if (ids.length > 0) titles.push({ path, line: node.loc.start.line, text: title, ids });
  });
  return titles;
}

/** One line for each title that names too many rules or an unknown one. */
export function findTitleErrors(titles: readonly Title[], known: ReadonlySet<string>): string[] {
  return titles.flatMap(({ path, line, text, ids }) => {
    const errors: string[] = [];
    const unknown = ids.filter((id) => !known.has(id));
    if (ids.length > MAX_IDS) {
      errors.push(`${path}:${line} names ${ids.length} rules, ${MAX_IDS} at most: "${text}"`);
    }
    if (unknown.length > 0) {
      errors.push(`${path}:${line} names ${unknown.join(", ")}, not in docs/rules.md: "${text}"`);
    }
    return errors;
  });
}
