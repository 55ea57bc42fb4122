/**
 * `npm run ok -- packages`: packs the npm package and judges the tarball as its users get it: its list of files, where
 * they lead to, and its size; then publint, and attw, which resolves every entry the way each compiler does; then tsc, as users
 * who have installed some of the peers run it.
 */
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { bundleName, pack, PACKAGE } from "./pack.ts";
import { misnamed } from "./pack/class_names.ts";
import { askCompiler } from "./packages/consumers.ts";
import { judgeContents, type PackedPackage } from "./packages/contents.ts";
import { ENTRIES } from "./support/project.ts";

/**
 * What attw says of every package of ES modules alone, and is meant so: resolution before Node 12 knows no `exports`, and CommonJS
 * gets an ES module from `require`, which Node 20.19 and later load.
 */
const MEANT: ReadonlySet<string> = new Set(["NoResolution node10", "CJSResolvesToESM node16-cjs"]);

/** Reads a tarball into memory. */
export function readTarball(path: string): PackedPackage {
  const bytes = readFileSync(path);
  const found = createPackageFromTarballData(new Uint8Array(bytes));
  const folder = `/node_modules/${found.packageName}/`;
  const files = found.listFiles().map((file) => [file.slice(folder.length), found.readFile(file)] as const);
  return { files: new Map(files), tarballBytes: bytes.length };
}

async function askPublint(path: string): Promise<string[]> {
  const tarball = new Uint8Array(readFileSync(path)).buffer;
  const { messages, pkg } = await publint({ pack: { tarball }, level: "suggestion", strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

async function askAttw(path: string): Promise<string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(path))));
  if (analysis.types === false) return ["attw: the package has no types"];
  return analysis.problems.flatMap((problem) => {
    const resolution = "resolutionKind" in problem ? problem.resolutionKind : "";
    return MEANT.has(`${problem.kind} ${resolution}`) ? [] : [`attw: ${JSON.stringify(problem)}`];
  });
}

/** Exports of the packed entries that are called otherwise than they are imported. */
async function judgeNames(): Promise<string[]> {
  const findings = Object.keys(ENTRIES).map(async (entry) => {
    const module = await import(join(PACKAGE, "dist", `${bundleName(entry)}.js`)) as Record<string, unknown>;
    return misnamed(module).map((finding) => `${entry}: ${finding}`);
  });
  return (await Promise.all(findings)).flat();
}

/** Everything that is wrong with a tarball. */
export async function judgeTarball(path: string): Promise<string[]> {
  const packed = readTarball(path);
  const contents = judgeContents(packed, Object.keys(ENTRIES));
  return [...contents, ...await askPublint(path), ...await askAttw(path), ...askCompiler(packed)];
}

if (import.meta.main) {
  const tarball = await pack();
  const findings = [...await judgeTarball(tarball), ...await judgeNames()];
  for (const finding of findings) console.error(finding);
  const { files, tarballBytes } = readTarball(tarball);
  console.log(`packages: ${files.size} files, ${tarballBytes} bytes, ${findings.length} findings`);
  process.exitCode = findings.length > 0 ? 1 : 0;
}
