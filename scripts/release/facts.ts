/** What must be true of the tree before a version is released, judged from its texts. */

/** The texts and answers that a release is judged by. */
export interface ReleaseFacts {
  /** package.json, package-lock.json, deno.json and CHANGELOG.md, as they stand. */
  readonly packageJson: string;
  readonly packageLock: string;
  readonly denoJson: string;
  readonly changelog: string;
  /** What `git status --porcelain` prints. */
  readonly gitStatus: string;
  /** What `git tag --list` prints. */
  readonly gitTags: string;
}

/** Everything that speaks against a release; empty when nothing does. */
export function judgeRelease(facts: ReleaseFacts): string[] {
  const manifest = JSON.parse(facts.packageJson) as { version?: string; repository?: unknown };
  const version = manifest.version ?? "";
  return [
    ...judgeVersions(version, facts),
    ...judgeChangelog(version, facts.changelog),
    ...judgeGit(version, facts),
    ...(manifest.repository === undefined
      ? ["package.json names no repository: npm and JSR link the sources and the README's pages by it"]
      : []),
  ];
}

/** The version in package.json, for messages and tags. */
export function versionOf(packageJson: string): string {
  return (JSON.parse(packageJson) as { version: string }).version;
}

function judgeVersions(version: string, facts: ReleaseFacts): string[] {
  if (parseVersion(version) === null) {
    return [`package.json has version "${version}", it should be like 1.2.3 or 1.2.3-beta.1`];
  }
  const lock = JSON.parse(facts.packageLock) as {
    version?: string;
    packages?: Record<string, { version?: string }>;
  };
  const others: Record<string, string | undefined> = {
    "deno.json": (JSON.parse(facts.denoJson) as { version?: string }).version,
    "package-lock.json": lock.version,
    "package-lock.json, its packages": lock.packages?.[""]?.version,
  };
  return Object.entries(others).flatMap(([place, other]) =>
    other === version ? [] : [`${place} has version ${other}, package.json ${version}`]
  );
}

/** The newest section is that of the version, has a date and lines, and is newer than the one before. */
function judgeChangelog(version: string, changelog: string): string[] {
  const [, newest, before] = changelog.split(/^## /m);
  const head = newest?.split("\n")[0] ?? "";
  const [, named = "", date = ""] = /^(\S+) \((.*)\)$/.exec(head) ?? [];
  if (named !== version) return [`CHANGELOG.md begins with "${head}", it should be ${version} (YYYY-MM-DD)`];
  const findings: string[] = [];
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) {
    findings.push(
      `CHANGELOG.md says "${date}" of ${version}, it should be the day of the release, YYYY-MM-DD`,
    );
  }
  if (!/^- \S/m.test(newest ?? "")) findings.push(`CHANGELOG.md says nothing about ${version}`);
  const previous = before?.split(/\s/)[0];
  if (previous !== undefined && !isNewer(version, previous)) {
    findings.push(`version ${version} is not newer than ${previous}, the one before in CHANGELOG.md`);
  }
  return findings;
}

function judgeGit(version: string, { gitStatus, gitTags }: ReleaseFacts): string[] {
  const changed = gitStatus.split("\n").filter((line) => line.trim() !== "");
  return [
    ...(changed.length > 0
      ? [`the tree is not clean: ${changed.map((line) => line.trim()).join(", ")}`]
      : []),
    ...(gitTags.split("\n").includes(`v${version}`) ? [`the tag v${version} is there already`] : []),
  ];
}

interface Version {
  readonly numbers: readonly [number, number, number];
  /** What stands behind the hyphen; empty for a full release. */
  readonly pre: string;
}

function parseVersion(text: string): Version | null {
  const found = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([0-9a-z][0-9a-z.]*))?$/.exec(text);
  if (found === null) return null;
  return { numbers: [Number(found[1]), Number(found[2]), Number(found[3])], pre: found[4] ?? "" };
}

/** Whether a version comes after another one (semver.org, section 11); of two pre-releases, by their words and numbers. */
export function isNewer(version: string, than: string): boolean {
  const [left, right] = [parseVersion(version), parseVersion(than)];
  if (left === null || right === null) return false;
  for (let i = 0; i < 3; i++) {
    if (left.numbers[i] !== right.numbers[i]) return left.numbers[i]! > right.numbers[i]!;
  }
  if (left.pre === "" || right.pre === "") return left.pre === "" && right.pre !== "";
  return comparePre(left.pre.split("."), right.pre.split(".")) > 0;
}

function comparePre(left: readonly string[], right: readonly string[]): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one, other] = [left[i]!, right[i]!];
    if (one === other) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (isNumber && isOtherNumber) return Number(one) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}
