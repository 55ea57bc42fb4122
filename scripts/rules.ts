/**
 * `npm run rules [-- --part A,B] [--all] [--write]`: prints each rule of docs/rules.md that no test title names, a line each.
 *
 * With `--part` only the rules of those parts count, and an open one makes the exit status 1, as with `--all`. `--write` refreshes the
 * column "tested in". Titles with more than three ids, or with an id that docs/rules.md lacks, are errors.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { listFiles, ROOT } from "./support/project.ts";
import { readRules, type Rule, writeTested } from "./rules/table.ts";
import { findTitleErrors, listTitles, type Title } from "./rules/titles.ts";

const TABLE = "docs/rules.md";
/** Where titles are: shared suites stand beside the tests and in what ships for testing. */
const FOLDERS = ["tests", "testing", "examples", "bench"];

function readTitles(): Title[] {
  const files = FOLDERS.flatMap((folder) => listFiles(ROOT, folder, (path) => path.endsWith(".ts")));
  return files.flatMap((path) => listTitles(path, readFileSync(join(ROOT, path), "utf8")));
}

/** For each id the files whose titles name it, sorted. */
function whereTested(titles: readonly Title[]): Map<string, string[]> {
  const tested = new Map<string, string[]>();
  for (const { path, ids } of titles) {
    for (const id of ids) tested.set(id, [...new Set([...(tested.get(id) ?? []), path])].sort());
  }
  return tested;
}

/** The parts that are asked for: all of them unless `--part` names some. */
function partsOf(args: readonly string[], rules: readonly Rule[]): string[] {
  const known = [...new Set(rules.map((rule) => rule.part))];
  const index = args.indexOf("--part");
  if (index < 0) return known;
  const parts = (args[index + 1] ?? "").split(",");
  const unknown = parts.filter((part) => !known.includes(part));
  if (unknown.length === 0) return parts;
  throw new Error(`Cannot check part "${unknown.join()}": the parts are ${known.join(", ")}.`);
}

function main(args: readonly string[]): number {
  const text = readFileSync(join(ROOT, TABLE), "utf8");
  const { rules, waived, errors } = readRules(text);
  const titles = readTitles();
  const parts = partsOf(args, rules);
  const isStrict = args.includes("--part") || args.includes("--all");
  const tested = whereTested(titles);
  const all = [...errors, ...findTitleErrors(titles, new Set(rules.map((rule) => rule.id)))];
  for (const error of all) console.error(error);
  if (args.includes("--write")) writeFileSync(join(ROOT, TABLE), writeTested(text, tested));
  const due = rules.filter((rule) => parts.includes(rule.part));
  const open = due.filter((rule) => !tested.has(rule.id) && !waived.has(rule.id));
  for (const rule of open) console.log(`${rule.id} (part ${rule.part}) has no test: ${rule.promise}`);
  const counts = `${due.filter((rule) => tested.has(rule.id)).length} tested, ${open.length} open`;
  const waivers = due.filter((rule) => waived.has(rule.id)).length;
  console.log(`rules of parts ${parts.join(", ")}: ${due.length}, ${counts}, ${waivers} waived`);
  return all.length > 0 || (isStrict && open.length > 0) ? 1 : 0;
}

if (import.meta.main) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
