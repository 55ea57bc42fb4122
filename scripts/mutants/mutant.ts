/** What a planted fault is, and what must hold for a list of them. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A fault to plant in a copy of the sources: one text in one file stands for another. */
export interface Mutant {
  /** Its name, unique in the list: words joined by hyphens. */
  readonly id: string;
  /** Ids of the rules that it breaks. It counts as caught by a failing case whose title names one of them. */
  readonly rules: readonly string[];
  /** The file it stands in, from the root. A change below assembly/ touches the kernel alone, not its twin. */
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Test files that may catch it, the likeliest first; later ones run only when the earlier ones did not. */
  readonly tests: readonly string[];
}

/** One of the rules that are most easily got wrong, with the faults that break it. */
export interface HardRule {
  readonly number: number;
  readonly says: string;
  readonly ids: readonly string[];
  readonly mutants: readonly Mutant[];
}

/** The source with the fault in it, or null when `find` does not occur exactly once. */
export function plant(mutant: Mutant, source: string): string | null {
  const at = source.indexOf(mutant.find);
  if (at < 0 || source.indexOf(mutant.find, at + 1) >= 0) return null;
  return source.slice(0, at) + mutant.replace + source.slice(at + mutant.find.length);
}

/** The text of a file below `root`, or null when there is none. */
function read(root: string, path: string): string | null {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8").replaceAll("\r\n", "\n") : null;
}

/** One line for each thing that keeps a mutant from being planted in the tree below `root`, or from being caught. */
export function findErrors(root: string, mutants: readonly Mutant[]): string[] {
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const mutant of mutants) {
    const { id, rules, file, find, replace, tests } = mutant;
    const add = (text: string): void => void errors.push(`mutant ${id} ${text}`);
    if (seen.has(id)) add("stands twice in the list");
    seen.add(id);
    if (find === replace) add("changes nothing");
    const source = read(root, file);
    if (source === null) add(`names ${file}, which does not exist`);
    else if (plant(mutant, source) === null) {
      const times = source.split(find).length - 1;
      add(`cannot be planted: its text occurs ${times} times in ${file}, once is needed: ${find}`);
    }
    if (tests.length === 0) add("names no test file");
    for (const test of tests) {
      const text = read(root, test);
      if (text === null) add(`names ${test}, which does not exist`);
      else if (!rules.some((rule) => text.includes(rule))) {
        add(`cannot be caught by ${test}: it names no ${rules.join(", ")}`);
      }
    }
  }
  return errors;
}
