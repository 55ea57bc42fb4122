// docs/inside-admission.md and its pages: a promise names rules that there are and tests that name them; none is left out.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import { readRules } from "../scripts/rules/table.ts";
import { listTitles } from "../scripts/rules/titles.ts";
import { listFiles, ROOT as ROOT_PATH } from "../scripts/support/project.ts";

const ROOT = new URL("../", import.meta.url);
const ENTRY = "docs/inside-admission.md";
const FOLDER = "docs/inside-admission/";
/** Where tests stand whose titles may hold a promise: ours, and the suites that ship. */
const SUITES = ["tests", "testing"];
/** Whatever looks like a rule. */
const ID = /\b[A-Z]{2,3}-\d{2}\b/g;

/** `(MON-21; [laws_test])`: rules, and the test files that hold them. */
interface Promised {
  readonly page: string;
  readonly ids: readonly string[];
  readonly paths: readonly string[];
}

interface Page {
  readonly path: string;
  readonly text: string;
  /** Paths by label. */
  readonly targets: ReadonlyMap<string, string>;
}

const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

function readPage(path: string): Page {
  const text = read(path);
  const defined = [...text.matchAll(/^\[(\w+)\]: (\S+)$/gm)].map(([, label, target]) => {
    const url = new URL(target!, new URL(path, ROOT));
    return [label!, url.href.slice(ROOT.href.length)] as const;
  });
  return { path, text, targets: new Map(defined) };
}

/** Labels in square brackets that are no links of their own. */
function labelsOf(text: string): string[] {
  return [...text.matchAll(/\[(\w+)\](?![(:])/g)].map((found) => found[1]!);
}

function promisesOf({ path, text, targets }: Page): Promised[] {
  return [...text.matchAll(/\(([A-Z]{2,3}-\d{2}[^();]*);([^()]*)\)/g)].map(([, ids, labels]) => ({
    page: path,
    ids: ids!.match(ID)!,
    paths: labelsOf(labels!).map((label) => targets.get(label) ?? label),
  }));
}

describe("The statement of record", () => {
  const files = readdirSync(new URL(FOLDER, ROOT)).filter((file) => file.endsWith(".md")).sort();
  const pages = [ENTRY, ...files.map((file) => FOLDER + file)].map(readPage);
  const promises = pages.flatMap(promisesOf);
  const { rules, waived } = readRules(read("docs/rules.md"));
  const named = new Map<string, Set<string>>();
  for (
    const path of SUITES.flatMap((folder) => listFiles(ROOT_PATH, folder, (each) => each.endsWith(".ts")))
  ) {
    named.set(path, new Set(listTitles(path, read(path)).flatMap(({ ids }) => ids)));
  }
  const hasTest = (id: string) => [...named.values()].some((ids) => ids.has(id));
  const open = new Set((read(ENTRY).split("\n## Not stated yet\n")[1] ?? "").match(ID));

  it("leads to every page of its folder, and to files that there are", () => {
    const entry = pages[0]!.text;
    for (const file of files) {
      assert.ok(entry.includes(`(inside-admission/${file})`), `${file} is not linked`);
    }
    for (const { path, text } of pages) {
      const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((found) => found[1]!);
      const missing = links.filter((link) => !existsSync(new URL(link, new URL(path, ROOT))));
      assert.deepEqual(missing, [], path);
    }
  });

  it("defines every label as a file that there is, and uses it in promises alone", () => {
    for (const { path, text, targets } of pages) {
      const labels = labelsOf(text);
      assert.deepEqual([...targets.keys()].sort(), [...new Set(labels)].sort(), path);
      const promised = promises.filter(({ page }) => page === path).flatMap(({ paths }) => paths);
      assert.deepEqual(promised, labels.map((label) => targets.get(label)), path);
      for (const target of targets.values()) {
        assert.ok(existsSync(new URL(target, ROOT)), `${path}: ${target}`);
      }
    }
  });

  it("names rules that there are", () => {
    const known = new Set(rules.map(({ id }) => id));
    for (const { path, text } of pages) {
      assert.deepEqual((text.match(ID) ?? []).filter((id) => !known.has(id)), [], path);
    }
  });

  it("names beside each promise the tests of its rules, and no others", () => {
    const faults = promises.flatMap(({ page, ids, paths }) => {
      const untested = ids.filter((id) => !paths.some((path) => named.get(path)?.has(id)));
      const beside = paths.filter((path) => !ids.some((id) => named.get(path)?.has(id)));
      return [
        ...untested.map((id) => `${page}: ${id} is in no title of ${paths.join(", ") || "any file"}`),
        ...beside.map((path) => `${page}: ${path} has no title with ${ids.join(", ")}`),
      ];
    });
    assert.deepEqual(faults, []);
  });

  it("states every rule that binds, or lists it as not stated yet", () => {
    const stated = new Set(promises.flatMap(({ ids }) => ids));
    const binding = rules.map(({ id }) => id).filter((id) => !waived.has(id));
    assert.deepEqual(
      binding.filter((id) => !stated.has(id) && !open.has(id)),
      [],
      "neither stated nor listed",
    );
    assert.deepEqual([...open].filter((id) => stated.has(id)), [], "stated and listed");
    assert.deepEqual([...open].filter(hasTest), [], "listed although a test names it");
  });
});
