/** The tables of docs/rules.md: one per part of the plan, `id | promise | tested in`, and one of waivers. */

/** One promise. */
export interface Rule {
  readonly id: string;
  readonly part: string;
  readonly promise: string;
}

/** What docs/rules.md says; `errors` are lines that cannot be meant. */
export interface RuleTable {
  readonly rules: readonly Rule[];
  readonly waived: ReadonlyMap<string, string>;
  readonly errors: readonly string[];
}

/** The form of a rule's id. */
export const RULE_ID: RegExp = /^[A-Z]{2,3}-\d{2}$/;

function cellsOf(line: string): string[] {
  return line.split("|").slice(1, -1).map((cell) => cell.trim());
}

/** Reads the tables. A rule that stands twice, or a waiver of no rule, is an error. */
export function readRules(text: string): RuleTable {
  const rules: Rule[] = [];
  const waived = new Map<string, string>();
  const errors: string[] = [];
  let section = "";
  for (const [index, line] of text.split("\n").entries()) {
    section = /^## (?:Part )?(\w+)/.exec(line)?.[1] ?? section;
    const [id = "", second = ""] = cellsOf(line);
    if (!RULE_ID.test(id)) continue;
    const at = `docs/rules.md:${index + 1} ${id}`;
    if (section === "Waived") {
      if (second === "") errors.push(`${at} is waived without a reason`);
      if (waived.has(id)) errors.push(`${at} is waived twice`);
      waived.set(id, second);
    } else {
      if (rules.some((rule) => rule.id === id)) errors.push(`${at} stands twice`);
      if (second === "") errors.push(`${at} has no promise`);
      rules.push({ id, part: section, promise: second });
    }
  }
  for (const id of waived.keys()) {
    if (!rules.some((rule) => rule.id === id)) errors.push(`docs/rules.md: ${id} is waived but is no rule`);
  }
  return { rules, waived, errors };
}

/** The same text with the column "tested in" as `tested` says; everything else stays as it is. */
export function writeTested(text: string, tested: ReadonlyMap<string, readonly string[]>): string {
  let isWaived = false;
  return text.split("\n").map((line) => {
    if (line.startsWith("## ")) isWaived = line === "## Waived";
    const [id = "", promise = ""] = cellsOf(line);
    if (isWaived || !RULE_ID.test(id)) return line;
    return `| ${id} | ${promise} | ${(tested.get(id) ?? []).map((path) => `\`${path}\``).join(", ")} |`;
  }).join("\n");
}
