/** The commands of a release: what is checked, and what publishes. Only one spelled-out wish leads to the latter. */

/** What is asked for. */
export type ReleaseWish = "check" | "publish";

/** Commands, in order. */
export interface ReleaseSteps {
  readonly checks: readonly (readonly string[])[];
  readonly publish: readonly (readonly string[])[];
}

/** Reads the command line. @throws Error for anything but nothing, `--check` or `--publish` alone. */
export function wishOf(args: readonly string[]): ReleaseWish {
  if (args.length === 0 || (args.length === 1 && args[0] === "--check")) return "check";
  if (args.length === 1 && args[0] === "--publish") return "publish";
  throw new Error(`Cannot release with "${args.join(" ")}": it takes --check, or --publish, or nothing.`);
}

const SCRIPT = ["deno", "run", "-A", "--no-check"] as const;
/** Checks that take seconds; `packages` leaves the tarball in out/. */
const QUICK = ["fmt", "lint", "tidy", "types", "kernel", "docs", "publish", "packages"];
/** Checks that take minutes; the smoke packs the same tarball anew. */
const THOROUGH = ["tests", "smoke"];

/** What a wish comes to for a version. */
export function releaseSteps(wish: ReleaseWish, version: string): ReleaseSteps {
  const names = wish === "publish" ? [...QUICK, ...THOROUGH] : QUICK;
  return {
    checks: [[...SCRIPT, "scripts/ok.ts", ...names], [...SCRIPT, "scripts/rules.ts", "--all"]],
    publish: wish === "publish"
      ? [
        // A path with ./ in front: npm takes out/x.tgz for a repository of GitHub.
        ["npm", "publish", `./out/sluice-admission-${version}.tgz`, ...tagFor(version)],
        ["deno", "publish"],
      ]
      : [],
  };
}

/** A pre-release must not become what `npm install` gives everybody. */
function tagFor(version: string): string[] {
  return version.includes("-") ? ["--tag", "next"] : [];
}
