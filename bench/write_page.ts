import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { ROOT, runTool } from "../scripts/support/project.ts";
import { drawPictures } from "./charts/pictures.ts";
import { pageBlocks, type Results, withBlocks } from "./page_blocks.ts";

const PAGE = join(ROOT, "docs", "performance.md");
const PICTURES = join(ROOT, "docs", "performance");

/** Refreshes the tables of docs/performance.md and the pictures in docs/performance/. */
export function writePage(results: Omit<Results, "setting">): void {
  const blocks = pageBlocks({ ...results, setting: setting(results.effort) });
  writeFileSync(PAGE, withBlocks(readFileSync(PAGE, "utf8"), blocks));
  mkdirSync(PICTURES, { recursive: true });
  for (const [file, svg] of drawPictures(results.figures, results.workloads)) {
    writeFileSync(join(PICTURES, file), svg);
  }
  runTool("deno", ["fmt", "--quiet", PAGE]);
}

function setting(effort: string): string {
  const [first] = cpus();
  const { deno, bun } = versions("package.json", "devDependencies");
  const peers = Object.entries(versions("bench/package.json", "dependencies"));
  return `Measured on ${
    new Date().toISOString().slice(0, 10)
  } by a ${effort} run, on Deno ${deno} and Bun ${bun}, ` +
    `${cpus().length} processors (${first?.model.trim() || "of an unnamed kind"}), ` +
    `${Math.round(totalmem() / 2 ** 30)} GB of memory, with ${
      peers.map(([name, version]) => `${name} ${version}`).join(", ")
    }.`;
}

function versions(path: string, key: string): Record<string, string> {
  const read = JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Record<string, Record<string, string>>;
  return read[key] ?? {};
}
