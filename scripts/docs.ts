/**
 * `npm run ok -- docs`: what users see has docstrings, and names nothing that they cannot see. It is `deno doc --lint` over
 * every entry, without what it says of a peer's types: deno takes them for private, but whoever uses an adapter has its peer.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { ENTRIES, runTool } from "./support/project.ts";

/** Colours of a terminal. */
// deno-lint-ignore no-control-regex
const COLOURS = /\u001b\[\d+(;\d+)*m/g;
const PRIVATE_TYPE = /^error\[private-type-ref\].* references private type '(\w+)'/;
const PLACE = /^ *--> (.+):\d+:\d+$/m;
const IMPORT = /^import (?:type )?\{([^}]*)\} from "([^".][^"]*)";$/gm;

/** Whether a finding is only about a type that the file imports from a package. */
export function isOfPeer(finding: string, read: (path: string) => string): boolean {
  const [, name] = PRIVATE_TYPE.exec(finding) ?? [];
  const [, path] = PLACE.exec(finding) ?? [];
  if (name === undefined || path === undefined) return false;
  const imported = [...read(path).matchAll(IMPORT)].flatMap(([, names = ""]) => names.split(","));
  return imported.some((each) => each.trim().replace(/^type /, "") === name);
}

/** The findings in what `deno doc --lint` printed, a text each. */
export function findingsOf(output: string): string[] {
  const blocks = output.replace(COLOURS, "").split(/^(?=error)/m);
  return blocks.filter((block) => block.startsWith("error[")).map((block) => block.trimEnd());
}

function main(): number {
  const args = ["doc", "--lint", "--quiet", ...Object.values(ENTRIES)];
  const { status, output } = runTool("deno", args, { capture: true });
  const findings = findingsOf(output);
  const ours = findings.filter((finding) => !isOfPeer(finding, (path) => readFileSync(path, "utf8")));
  for (const finding of ours) console.error(`${finding}\n`);
  if (status !== 0 && findings.length === 0) console.error(output);
  console.log(`docs: ${Object.keys(ENTRIES).length} entries, ${ours.length} findings`);
  return ours.length > 0 || (status !== 0 && findings.length === 0) ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
