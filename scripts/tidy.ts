/** `npm run tidy`: prints each place in the tree that breaks the house style's checked rules, a line each. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { listFiles, ROOT } from "./support/project.ts";
import { checkFile } from "./tidy/checks.ts";
import type { Finding } from "./tidy/imports.ts";

/** Checks every source file below `root`; gives the findings and the number of files looked at. */
export function checkTree(root: string): { readonly files: number; readonly findings: readonly Finding[] } {
  const files = listFiles(root, ".", (path) => /\.(ts|mts|cts|tsx|js|mjs|cjs)$/.test(path));
  const findings = files.flatMap((path) => checkFile(path, readFileSync(join(root, path), "utf8")));
  return { files: files.length, findings };
}

if (import.meta.main) {
  const { files, findings } = checkTree(ROOT);
  for (const { path, line, text } of findings) console.log(`${path}:${line} ${text}`);
  console.log(`tidy: ${files} files, ${findings.length} findings`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
