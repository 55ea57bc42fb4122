// docs/own-account.md: its snippets are the files of examples/own_account/, whose tests run, and its table has every verb.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "@std/testing/bdd";
import { AbstractRateLimiter } from "../mod.ts";

const ROOT = new URL("../", import.meta.url);
const PAGE = new URL("docs/own-account.md", ROOT);
const FOLDER = new URL("examples/own_account/", ROOT);

describe("The page of own accounts", () => {
  const page = readFileSync(PAGE, "utf8");

  it("quotes every example word for word, but for the imports, and nothing else", () => {
    const quoted = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map((found) => found[1]!);
    const sources = readdirSync(FOLDER).map((file) =>
      readFileSync(new URL(file, FOLDER), "utf8")
        .replace("../../mod.ts", "@sluice/admission")
        .replace("../../testing/mod.ts", "@sluice/admission/testing")
        .replace("@std/testing/bdd", "node:test")
    );
    assert.ok(sources.length > 2);
    assert.deepEqual(quoted.toSorted(), sources.toSorted());
  });

  it("lists every member of the contract and of its base, and no other", () => {
    const contract = readFileSync(new URL("core/account.ts", ROOT), "utf8");
    const members = ["LimiterIdentity", "RateLimiter<T>"].flatMap((name) => {
      const body = contract.split(`export interface ${name} {\n`)[1]!.split("\n}")[0]!;
      return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)].map((found) => found[1]!);
    });
    const base = Object.getOwnPropertyNames(AbstractRateLimiter.prototype);
    const expected = new Set([...members, ...base.filter((name) => name !== "constructor")]);
    const cells = [...page.matchAll(/^\| (`[^|]*`) +\|/gm)].map((found) => found[1]!);
    const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map((found) => found[1]!));
    assert.ok(expected.size > 12);
    assert.deepEqual(listed.toSorted(), [...expected].toSorted());
  });
});
