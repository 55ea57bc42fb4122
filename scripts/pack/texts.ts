/** The texts of the npm package: its README with the guides that it leads to. What stays in the repository is named there, not linked. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withoutDeadLinks } from "../support/markdown_links.ts";
import { ROOT } from "../support/project.ts";

const AT_ROOT = ["README.md", "CHANGELOG.md", "LICENSE"];
const PICTURES = ["docs/hostage.svg"];
/** About how it is built and measured. Whoever changes it has the repository. */
const FOR_CONTRIBUTORS: readonly string[] = [
  "architecture.md",
  "inside-admission.md",
  "mutants.md",
  "performance.md",
  "replay.md",
  "rules.md",
  "style.md",
  "why.md",
];

/** Their paths, in the repository as in the package. */
export function textPaths(): string[] {
  const pages = readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md") && !FOR_CONTRIBUTORS.includes(name))
    .sort()
    .map((name) => `docs/${name}`);
  return [...AT_ROOT, ...pages, ...PICTURES];
}

/** A text as it is in the package. */
export function packedText(path: string, paths: readonly string[]): string {
  const text = readFileSync(join(ROOT, path), "utf8");
  return path.endsWith(".md") ? withoutDeadLinks(path, text, (target) => paths.includes(target)) : text;
}
