// Links of README.md, CONTRIBUTING.md and docs/: each leads to a file, and to a heading where it names one.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "@std/testing/bdd";
import { anchorsOf, deadLinks, relativeLinks, withoutDeadLinks } from "../scripts/support/markdown_links.ts";
import { listFiles, ROOT } from "../scripts/support/project.ts";

function read(path: string): string | null {
  const full = join(ROOT, path);
  if (!existsSync(full)) return null;
  return statSync(full).isDirectory() ? "" : readFileSync(full, "utf8");
}

describe("The links of the pages", () => {
  const atRoot = readdirSync(ROOT).filter((file) => file.endsWith(".md"));
  const pages = [...atRoot, ...listFiles(ROOT, "docs", (path) => path.endsWith(".md"))];

  it("lead to files that there are, and to headings that they have", () => {
    const links = pages.flatMap((page) => relativeLinks(page, read(page)!));
    assert.ok(
      links.length > 100 && links.some(({ target }) => target.includes("#")),
      `${links.length} links`,
    );
    assert.deepEqual(deadLinks(pages, read), []);
  });
});

describe("A dead link", () => {
  const texts: Readonly<Record<string, string>> = {
    "docs/a.md":
      "# A, the `first`\n[gone](b.md) [here](#a-the-first) [no](#a-the-second) ![p](../p.svg)\n[x]: c.md#twice-1\n",
    "docs/c.md": "# Twice\n## Twice\n```md\n# Not one\n[code](nowhere.md)\n```\n`[inline](nowhere.md)`\n",
  };
  const readText = (path: string) => texts[path] ?? null;

  it("is found: a file, a heading, a picture; what stands in code is none", () => {
    assert.deepEqual(deadLinks(Object.keys(texts), readText), [
      "docs/a.md: b.md",
      "docs/a.md: #a-the-second",
      "docs/a.md: ../p.svg",
    ]);
    assert.deepEqual([...anchorsOf(texts["docs/c.md"]!)], ["twice", "twice-1"]);
  });

  it("is no link to another site", () => {
    assert.deepEqual(relativeLinks("a.md", "[x](https://example.com/a.md) [m](mailto:a@example.com)"), []);
  });
});

describe("A page without the rest of the tree", () => {
  it("keeps the words of links that lead out of it, and every other link", () => {
    const given = [
      "# A",
      "[in](b.md#x), [`out`](../tests/c.ts), [site](https://a.test/c.ts), ![a picture](../p.svg) `[code](c.md)`",
      "```md\n[code](c.md)\n```",
      "([MON-02](../tests/c.ts)) [here](#a) [defined]",
      "",
      "[defined]: c.md",
    ];
    const expected = [
      "# A",
      "[in](b.md#x), `out`, [site](https://a.test/c.ts), a picture `[code](c.md)`",
      "```md\n[code](c.md)\n```",
      "(MON-02) [here](#a) [defined]",
      "",
      "",
    ];
    const has = (path: string) => ["docs/a.md", "docs/b.md"].includes(path);
    assert.deepEqual(
      withoutDeadLinks("docs/a.md", given.join("\n"), has).split("\n"),
      expected.join("\n").split("\n"),
    );
  });
});
