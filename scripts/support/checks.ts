/** The checks of `npm run ok`, by name: what each runs, in the order in which they run. */
import { ENTRIES } from "./project.ts";

/** One check: commands that must all end with status 0. */
export interface Check {
  readonly what: string;
  readonly commands: readonly (readonly string[])[];
  /** What runs instead among all checks, where the whole of it takes too long: by its name, and for a release, all of it runs. */
  readonly unnamed?: readonly (readonly string[])[];
  /** Runs by itself, with its output as it comes: it needs all processors, or takes long. */
  readonly isAlone?: true;
  /** Commands that repair what the check finds, where there are any. */
  readonly repair?: readonly (readonly string[])[];
}

/** The names of the checks. */
export type CheckName =
  | "fmt"
  | "lint"
  | "kernel"
  | "types"
  | "tidy"
  | "docs"
  | "rules"
  | "publish"
  | "packages"
  | "smoke"
  | "tests";

const SCRIPT = ["deno", "run", "-A", "--no-check"] as const;

/** All checks. */
export const CHECKS: Record<CheckName, Check> = {
  fmt: {
    what: "files are as deno fmt writes them",
    commands: [["deno", "fmt", "--check"]],
    repair: [["deno", "fmt", "--quiet"]],
  },
  lint: { what: "deno lint finds nothing", commands: [["deno", "lint", "--quiet"]] },
  kernel: {
    what: "the kernel's bytes are those of assembly/",
    commands: [[...SCRIPT, "scripts/build_kernel.ts", "--check"]],
  },
  types: {
    what: "tsc finds nothing, nor does deno check in what its users compile",
    commands: [
      ["tsc", "--noEmit"],
      ["deno", "check", "--quiet", ...Object.values(ENTRIES), "examples/", "tests/types/"],
    ],
  },
  tidy: { what: "the tree keeps its own rules", commands: [[...SCRIPT, "scripts/tidy.ts"]] },
  docs: {
    what: "what users see has docstrings, and names nothing that they cannot see",
    commands: [[...SCRIPT, "scripts/docs.ts"], [...SCRIPT, "scripts/api.ts"]],
    repair: [[...SCRIPT, "scripts/api.ts", "--write"], [...SCRIPT, "scripts/docs.ts"]],
  },
  rules: {
    what: "each rule that is due has a test",
    commands: [[...SCRIPT, "scripts/rules.ts", "--part", "A,B,C,D,E,H"]],
  },
  publish: {
    what: "deno publish would accept the package",
    // Types are the business of the check of that name; slow types are found all the same.
    commands: [["deno", "publish", "--dry-run", "--allow-dirty", "--quiet", "--no-check"]],
  },
  packages: {
    what: "the npm tarball has what it should, and publint and attw find nothing",
    commands: [[...SCRIPT, "scripts/packages.ts"]],
  },
  smoke: {
    isAlone: true,
    what: "the packed library works where it is installed",
    commands: [[...SCRIPT, "scripts/smoke.ts"]],
  },
  tests: {
    isAlone: true,
    what: "the tests pass on Deno and on Bun",
    commands: [[...SCRIPT, "scripts/test.ts", "--no-prechecks"]],
    unnamed: [[...SCRIPT, "scripts/test.ts", "--no-prechecks", "--fast"]],
  },
};
