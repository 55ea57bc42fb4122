/**
 * `npm run release`: says whether this tree can be released, and publishes nothing. With `-- --publish` the tests and the packed
 * smoke run as well, and when everything holds the tarball goes to npm and the sources to JSR; the tag is left to you.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { judgeRelease, type ReleaseFacts, versionOf } from "./release/facts.ts";
import { releaseSteps, wishOf } from "./release/steps.ts";
import { ROOT, runTool } from "./support/project.ts";

function read(name: string): string {
  return readFileSync(join(ROOT, name), "utf8");
}

function git(...args: string[]): string {
  const { status, output } = runTool("git", args, { capture: true });
  if (status !== 0) throw new Error(`Cannot judge the tree: git ${args.join(" ")} failed.\n${output}`);
  return output;
}

function readFacts(): ReleaseFacts {
  return {
    packageJson: read("package.json"),
    packageLock: read("package-lock.json"),
    denoJson: read("deno.json"),
    changelog: read("CHANGELOG.md"),
    gitStatus: git("status", "--porcelain"),
    gitTags: git("tag", "--list"),
  };
}

function main(args: readonly string[]): number {
  const wish = wishOf(args);
  const facts = readFacts();
  const version = versionOf(facts.packageJson);
  const { checks, publish } = releaseSteps(wish, version);
  const findings = judgeRelease(facts);
  const failed = checks.filter(([name = "", ...rest]) => runTool(name, rest).status !== 0);
  for (const finding of findings) console.error(`release: ${finding}`);
  for (const command of failed) console.error(`release: failed: ${command.join(" ")}`);
  if (findings.length + failed.length > 0) {
    console.error(`release: ${version} cannot be released; nothing was published`);
    return 1;
  }
  for (const [name = "", ...rest] of publish) {
    console.log(`release: ${[name, ...rest].join(" ")}`);
    if (runTool(name, rest).status === 0) continue;
    console.error("release: that failed, and what comes after it was not done");
    return 1;
  }
  const told = publish.length > 0
    ? `published; now: git tag v${version}`
    : "can be released; nothing was published";
  console.log(`release: ${version} ${told}`);
  return 0;
}

if (import.meta.main) {
  try {
    process.exitCode = main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
