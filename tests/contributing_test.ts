/** What CONTRIBUTING.md and the templates say of the tree is so: the commands exist, the checks are named, the paths are there. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { CHECKS } from "../scripts/support/checks.ts";

const ROOT = new URL("../", import.meta.url);
const PAGES = ["CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md"];

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** What looks like a path of ours: in backticks with a slash or a known ending, or a page of docs/. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path);
  const pages = [...text.matchAll(/\bdocs\/[\w./-]*\w/g)].map(([path]) => path);
  const isPath = (path: string) =>
    /^[.\w-]+\/|\.(ts|json|md)$/.test(path) && !path.startsWith("out/") && path !== "_test.ts";
  return [...new Set([...quoted.filter(isPath), ...pages])];
}

describe("The pages for contributors", () => {
  it("name paths that are there", () => {
    for (const page of PAGES) {
      const paths = pathsIn(read(page));
      assert.deepEqual(paths.filter((path) => !existsSync(new URL(path, ROOT))), [], page);
    }
    assert.ok(pathsIn(read("CONTRIBUTING.md")).length > 20);
  });

  it("name commands that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = PAGES.flatMap((page) =>
      [...read(page).matchAll(/npm run ([\w-]+)/g)].map(([, name = ""]) => name)
    );
    assert.deepEqual(named.filter((name) => !Object.hasOwn(scripts, name)), []);
    assert.ok(named.length > 10);
  });

  it("name every check of npm run ok, and CI runs each", () => {
    const paragraph = /^The checks of `npm run ok`:[^]*?\n\n/m.exec(read("CONTRIBUTING.md"))?.[0] ?? "";
    assert.deepEqual(Object.keys(CHECKS).filter((name) => !paragraph.includes(`\`${name}\``)), []);
    const loop = /^for check in (.*); do$/m.exec(read(".ci/run"))?.[1]?.split(" ") ?? [];
    // These three are what `npm test` runs.
    const inTests = ["kernel", "types", "tests"];
    assert.deepEqual([...loop, ...inTests].sort(), Object.keys(CHECKS).sort());
  });
});
