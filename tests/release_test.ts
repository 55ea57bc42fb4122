/** A release is refused for each thing that speaks against it, and nothing is published unless it is asked for. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { isNewer, judgeRelease, type ReleaseFacts } from "../scripts/release/facts.ts";
import { releaseSteps, wishOf } from "../scripts/release/steps.ts";

const SOUND: ReleaseFacts = {
  packageJson: JSON.stringify({ version: "1.2.0", repository: "https://example.com/sluice.git" }),
  packageLock: JSON.stringify({ version: "1.2.0", packages: { "": { version: "1.2.0" } } }),
  denoJson: JSON.stringify({ version: "1.2.0" }),
  changelog: "# Changelog\n\n## 1.2.0 (2026-11-30)\n\n- A change.\n\n## 1.1.9 (2026-10-01)\n\n- Another.\n",
  gitStatus: "",
  gitTags: "v1.1.9\nv1.2.0-rc.1\n",
};

/** The one finding about the sound facts with these changed. */
function finding(changes: Partial<ReleaseFacts>): string {
  const found = judgeRelease({ ...SOUND, ...changes });
  assert.equal(found.length, 1, JSON.stringify(found));
  return found[0]!;
}

describe("a release", () => {
  it("is due when everything agrees", () => {
    assert.deepEqual(judgeRelease(SOUND), []);
    const first = SOUND.changelog.replace(/## 1\.1\.9[^]*/, "");
    assert.deepEqual(judgeRelease({ ...SOUND, changelog: first, gitTags: "" }), []);
  });

  it("is refused when two files name two versions", () => {
    assert.match(
      finding({ denoJson: '{"version":"1.1.9"}' }),
      /^deno\.json has version 1\.1\.9, package\.json 1\.2\.0$/,
    );
    const lock = (version: string, inner: string) =>
      JSON.stringify({ version, packages: { "": { version: inner } } });
    assert.match(finding({ packageLock: lock("1.1.9", "1.2.0") }), /^package-lock\.json has/);
    assert.match(finding({ packageLock: lock("1.2.0", "1.1.9") }), /^package-lock\.json, its packages has/);
  });

  it("is refused for a version that is none", () => {
    for (const version of ["v1.2.0", "1.2", "01.2.0", "1.2.0+build", ""]) {
      const packageJson = JSON.stringify({ version, repository: "x" });
      const changelog = SOUND.changelog.replace("1.2.0", version);
      assert.match(
        judgeRelease({ ...SOUND, packageJson, changelog }).join("\n"),
        /it should be like 1\.2\.3/,
        version,
      );
    }
  });

  it("is refused when the changelog has no dated section with lines for it on top", () => {
    const with_ = (from: string | RegExp, to: string) =>
      finding({ changelog: SOUND.changelog.replace(from, to) });
    assert.match(with_("1.2.0 (", "1.1.10 ("), /begins with "1\.1\.10 \(2026-11-30\)"/);
    assert.match(with_("2026-11-30", "not released"), /says "not released" of 1\.2\.0/);
    assert.match(with_("- A change.\n", ""), /says nothing about 1\.2\.0/);
    assert.match(with_("1.1.9", "1.3.0"), /1\.2\.0 is not newer than 1\.3\.0/);
    assert.match(finding({ changelog: "" }), /begins with ""/);
  });

  it("is refused from a tree that is not clean, under a tag that is there, and without a repository", () => {
    assert.match(
      finding({ gitStatus: " M mod.ts\n?? core/new.ts\n" }),
      /not clean: M mod\.ts, \?\? core\/new\.ts/,
    );
    assert.match(finding({ gitTags: "v1.2.0\n" }), /the tag v1\.2\.0 is there already/);
    assert.match(finding({ packageJson: '{"version":"1.2.0"}' }), /names no repository/);
  });

  it("publishes nothing unless it is told so, and then only after every check", () => {
    assert.equal(wishOf([]), "check");
    assert.equal(wishOf(["--check"]), "check");
    assert.deepEqual(releaseSteps("check", "1.2.0").publish, []);
    assert.equal(wishOf(["--publish"]), "publish");
    for (const args of [["--check", "--publish"], ["--publish", "--publish"], ["publish"], ["--Publish"]]) {
      assert.throws(() => wishOf(args), /it takes --check, or --publish, or nothing/);
    }
    const { checks, publish } = releaseSteps("publish", "1.2.0");
    for (const name of ["kernel", "types", "packages", "tests", "smoke"]) {
      assert.ok(checks[0]!.includes(name), name);
    }
    assert.deepEqual(checks[1]!.slice(-2), ["scripts/rules.ts", "--all"]);
    assert.deepEqual(publish, [["npm", "publish", "./out/sluice-admission-1.2.0.tgz"], ["deno", "publish"]]);
  });

  it("of a version before the full one does not become what everybody installs", () => {
    assert.deepEqual(releaseSteps("publish", "1.2.0-rc.1").publish[0]!.slice(-2), ["--tag", "next"]);
  });
});

describe("versions", () => {
  it("come in the order of semantic versioning", () => {
    const order = [
      "0.9.9",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
    ]
      .concat(["1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"]);
    for (const [i, left] of order.entries()) {
      for (const [j, right] of order.entries()) {
        assert.equal(isNewer(left, right), i > j, `${left} after ${right}`);
      }
    }
  });
});
