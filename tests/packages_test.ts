/** What judges the npm tarball finds what it is there for: planted packages, each with one thing wrong. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { misnamed, withClassNames } from "../scripts/pack/class_names.ts";
import { forEveryUser, modulesOf, reachableDeclarations } from "../scripts/pack/declarations.ts";
import { askCompiler, type Consumer } from "../scripts/packages/consumers.ts";
import { judgeContents, MAX_TARBALL_BYTES } from "../scripts/packages/contents.ts";
import { removePatiently } from "../scripts/smoke/browser.ts";
import { ENTRIES } from "../scripts/support/project.ts";

const MANIFEST = {
  name: "@sluice/admission",
  peerDependencies: { hono: "^4.0.0" },
  peerDependenciesMeta: { hono: { optional: true } },
  exports: {
    ".": { types: "./types/mod.d.ts", default: "./dist/index.js" },
    "./hono": { types: "./types/adapters/hono.d.ts", default: "./dist/hono.js" },
    "./kernel.wasm": { types: "./kernel.d.ts", default: "./kernel.wasm" },
    "./package.json": "./package.json",
  },
};

const SOUND: Readonly<Record<string, string>> = {
  "CHANGELOG.md": "",
  LICENSE: "",
  "README.md": "import x from 'anything', [a guide](docs/guide.md)",
  "docs/guide.md": "[back](../README.md)",
  "kernel.d.ts": "declare const module: WebAssembly.Module;\nexport default module;\n",
  "kernel.wasm": "\0asm",
  "package.json": JSON.stringify(MANIFEST),
  "dist/chunk-ABCDEFG2.js": 'var a = 1;\n// import b from "b"\nexport { a };\n',
  "dist/index.js": 'import {\n  a\n} from "./chunk-ABCDEFG2.js";\nexport { a };\n',
  "dist/hono.js": 'import { createMiddleware } from "hono/factory";\nimport "./chunk-ABCDEFG2.js";\n',
  "types/mod.d.ts":
    '/**\n * As in `import { a } from "./elsewhere.ts"`.\n */\nexport { a } from "./core/a.js";\n',
  "types/core/a.d.ts": 'export declare const a: import("./b.js").B;\n',
  "types/core/b.d.ts": "export interface B {}\n",
  "types/adapters/hono.d.ts": 'import type { Context } from "hono";\nexport { a } from "../mod.js";\n',
};

/** What is said of the sound package with these files changed, or taken out where null stands. */
function judge(changes: Readonly<Record<string, string | null>> = {}, tarballBytes = 1): string[] {
  const files = new Map<string, string>();
  for (const [path, text] of Object.entries({ ...SOUND, ...changes })) {
    if (text !== null) files.set(path, text);
  }
  return judgeContents({ files, tarballBytes }, [".", "./hono"]);
}

function manifest(changes: object): string {
  return JSON.stringify({ ...MANIFEST, ...changes });
}

describe("the judge of the npm package", () => {
  it("finds nothing in a sound one, at the largest size", () => {
    assert.deepEqual(judge({}, MAX_TARBALL_BYTES), []);
    assert.match(judge({}, MAX_TARBALL_BYTES + 1).join(), /^the tarball has \d+ bytes/);
  });

  it("finds a page that the README does not lead to, and a link that leads nowhere", () => {
    assert.deepEqual(judge({ "docs/plan.md": "" }), ["docs/plan.md does not belong into the package"]);
    const dead = judge({ "docs/guide.md": "[rules](rules.md)" });
    assert.deepEqual(dead, ["a link leads nowhere: docs/guide.md: rules.md"]);
  });

  it("finds what does not belong there: tests, sources, maps, declarations that no entry leads to", () => {
    for (
      const path of [
        "tests/a_test.ts",
        "dist/a.js",
        "dist/index.js.map",
        "types/core/inner.d.ts",
        "node_modules/hono/index.js",
        "dist/chunk-ABCDEFG2.d.ts",
      ]
    ) {
      assert.deepEqual(judge({ [path]: "" }), [`${path} does not belong into the package`]);
    }
  });

  it("finds what is missing", () => {
    for (const path of ["LICENSE", "README.md", "CHANGELOG.md"]) {
      assert.equal(judge({ [path]: null })[0], `${path} is missing`);
    }
    assert.match(
      judge({ "kernel.wasm": null }).join(),
      /\.\/kernel\.wasm leads to \.\/kernel\.wasm: no such file/,
    );
    assert.match(
      judge({ "dist/hono.js": null }).join(),
      /\.\/hono leads to \.\/dist\/hono\.js: no such file/,
    );
    assert.deepEqual(judge({ "types/core/b.d.ts": null }), [
      "types/core/a.d.ts imports ./b.js, which is not in the package",
    ]);
    assert.match(
      judge({ "dist/chunk-ABCDEFG2.js": null }).join(),
      /dist\/index\.js imports \.\/chunk-ABCDEFG2\.js/,
    );
  });

  it("finds a declaration that names a file of TypeScript, and types that a user may not have", () => {
    assert.deepEqual(judge({ "types/core/b.d.ts": 'export type B = import("./c.ts").C;\n' }), [
      "types/core/b.d.ts names ./c.ts, a file of TypeScript",
    ]);
    assert.deepEqual(
      judge({ "types/core/b.d.ts": '/// <reference types="node" />\nexport interface B {}\n' }),
      [
        "types/core/b.d.ts references types that a user may not have",
      ],
    );
    assert.deepEqual(
      judge({ "types/core/b.d.ts": 'export type { EventEmitter as B } from "node:events";\n' }),
      [
        "types/core/b.d.ts imports node:events, which is no peer",
      ],
    );
  });

  it("finds code that imports what is no peer, or names a source map", () => {
    assert.deepEqual(
      judge({ "dist/hono.js": 'import "./chunk-ABCDEFG2.js";\nawait import("honolulu");\n' }),
      [
        "dist/hono.js imports honolulu, which is no peer",
      ],
    );
    assert.deepEqual(judge({ "dist/hono.js": "export {};\n//# sourceMappingURL=hono.js.map\n" }), [
      "dist/hono.js names a source map",
    ]);
  });

  it("finds exports that lack an entry, have one too many, or no types first, and a peer that is forced on users", () => {
    const { "./hono": hono, ...others } = MANIFEST.exports;
    const exports = (changes: object) => ({
      "package.json": manifest({ exports: { ...others, ...changes } }),
    });
    assert.match(judge(exports({})).join("\n"), /^package\.json exports \., .* should export \., \.\/hono, /);
    assert.match(
      judge(exports({ "./hono": hono, "./inner": hono })).join("\n"),
      /^package\.json exports .*\.\/inner/,
    );
    const turned = { "./hono": { default: hono.default, types: hono.types } };
    assert.deepEqual(judge(exports(turned)), [
      "package.json exports ./hono with default,types, not with types, then default",
    ]);
    assert.deepEqual(judge({ "package.json": manifest({ peerDependenciesMeta: {} }) }), [
      "package.json: the peer hono is not optional",
    ]);
  });
});

describe("modules", () => {
  it("are found in every form, and not in comments", () => {
    const text =
      'import a from "a";\nimport "b";\nexport * from \'c\';\nlet x: import("d").D;\nawait import("e");\n' +
      '// import "f"\n/* from "g" */\n * from "h"\nimport {\n  i,\n} from "i";\nimport j from "a";\n';
    assert.deepEqual(modulesOf(text), ["a", "b", "c", "d", "e", "i"]);
  });

  it("are followed from declaration to declaration, round in circles and up folders", () => {
    const files: Record<string, string> = {
      "a.d.ts": 'export * from "./b/c.js";\nimport "hono";\n',
      "b/c.d.ts": 'export * from "../a.js";\nexport * from "./gone.js";\n',
      "b/d.d.ts": "",
    };
    assert.deepEqual([...reachableDeclarations(["a.d.ts"], (path) => files[path])], ["a.d.ts", "b/c.d.ts"]);
  });
});

describe("declarations for every user", () => {
  it("spare a user the peers that an entry can do without, there and nowhere else", () => {
    const spared = "// @ts-ignore: an optional peer\n";
    const drizzle = (text: string) => forEveryUser("adapters/drizzle/a.d.ts", text);
    for (const module of ["hono", "pg", "mysql2", "mysql2/promise"]) {
      const line = `import type { A } from "${module}";\n`;
      assert.equal(drizzle(line), spared + line);
      assert.equal(forEveryUser("adapters/hono/a.d.ts", line), line);
    }
    for (const module of ["drizzle-orm", "drizzle-orm/mysql2", "pgvector", "../../mod.js"]) {
      const line = `export type { A } from "${module}";\n`;
      assert.equal(drizzle(line), line);
    }
  });

  it("bring the types of using with them where they name them", () => {
    for (
      const line of [
        "class A implements Disposable {}",
        "type A = AsyncDisposable",
        "[Symbol.dispose](): void",
      ]
    ) {
      assert.equal(forEveryUser("a.d.ts", line), `/// <reference lib="esnext.disposable" />\n${line}`);
    }
    assert.equal(forEveryUser("a.d.ts", "dispose(): void"), "dispose(): void");
  });

  it("are compiled as a user has them, who hears of what a type lacks and of what a type no longer refuses", () => {
    const user = (program: string): Record<string, Consumer> => ({
      somebody: { peers: [], program, resolutions: ["nodenext"] },
    });
    const ask = (changes: Readonly<Record<string, string>>, program: string) =>
      askCompiler(
        { files: new Map(Object.entries({ ...SOUND, ...changes })), tarballBytes: 1 },
        user(program),
      );
    const program = 'import { a } from "@sluice/admission";\n// @ts-expect-error: it is a B.\na.nothing;\n';
    assert.deepEqual(ask({}, program), []);
    const lost = 'import type { B } from "pg";\nexport declare const a: B;\n';
    const found = ask({ "types/core/a.d.ts": lost }, program);
    assert.match(
      found.join("\n"),
      /^tsc, nodenext, with somebody: node_modules\/@sluice\/.*a\.d\.ts.* 'pg'/m,
    );
    assert.match(found.join("\n"), /somebody: main\.ts.* Unused '@ts-expect-error'/m);
  });
});

describe("the packed smoke", () => {
  it("imports every entry by its name", () => {
    const folder = new URL("../scripts/smoke/", import.meta.url);
    const programs = readdirSync(folder).filter((name) => name.endsWith("program.ts"));
    const imported = programs.flatMap((name) => modulesOf(readFileSync(new URL(name, folder), "utf8")));
    const wanted = Object.keys(ENTRIES).map((entry) => `@sluice/admission${entry.slice(1)}`);
    assert.deepEqual(wanted.filter((name) => !imported.includes(name)), []);
  });

  it("removes a folder in which files still come up, and goes on without when they never end", async () => {
    let calls = 0;
    const busyFor = (times: number) => () => {
      if (++calls <= times) throw Object.assign(new Error("not empty"), { code: "ENOTEMPTY" });
    };
    assert.equal(await removePatiently("profile", busyFor(3), 0), true);
    assert.equal(calls, 4);
    assert.equal(await removePatiently("profile", busyFor(Infinity), 0), false);
  });
});

describe("the names of classes in the bundle", () => {
  it("are those of their variables, also where a class speaks of itself", () => {
    const bundle = [
      "var Cost = class _Cost {",
      "  static zero = new _Cost(0);",
      "  plus(other) { return other instanceof _Cost ? new _Cost(1) : _Costly; }",
      "};",
      "var Plain = class {",
      "};",
    ];
    const renamed = withClassNames(bundle.join("\n"));
    assert.equal(
      renamed,
      bundle.join("\n").replaceAll("class _Cost", "class Cost").replaceAll("new _Cost", "new Cost")
        .replace("instanceof _Cost", "instanceof Cost"),
    );
  });

  it("are compared with the exports", () => {
    class Cost {}
    const module = { Cost, pause: Cost, VERSION: 1, make: function make() {} };
    assert.deepEqual(misnamed(module), ["pause is called Cost"]);
  });
});
