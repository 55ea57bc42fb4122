/** The tree keeps the house style's checked rules, and each check finds what it is there for. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { checkFile } from "../scripts/tidy/checks.ts";
import { checkTree } from "../scripts/tidy.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What the checks say about one planted file. */
function findings(path: string, text: string): string[] {
  return checkFile(path, text).map((finding) => `${finding.line} ${finding.text}`);
}

/** Asserts that a planted file has exactly one finding, and that it matches. */
function finds(path: string, text: string, expected: RegExp): void {
  const found = findings(path, text);
  assert.equal(found.length, 1, `${path}: ${JSON.stringify(found)}`);
  assert.match(found[0] ?? "", expected);
}

/** Asserts that a planted file has no finding. */
function allows(path: string, text: string): void {
  assert.deepEqual(findings(path, text), [], path);
}

describe("the tree", () => {
  it("is tidy", () => {
    const { files, findings } = checkTree(ROOT);
    assert.ok(files > 10, `only ${files} files were looked at`);
    assert.deepEqual(findings.map(({ path, line, text }) => `${path}:${line} ${text}`), []);
  });
});

describe("the import table", () => {
  it("refuses imports that lead to the wrong part of the tree", () => {
    const cases: [string, string][] = [
      ["core/a.ts", "../adapters/hono/a.ts"],
      ["core/a.ts", "../assembly/kernel.ts"],
      ["core/a.ts", "../testing/mod.ts"],
      ["mod.ts", "./testing/mod.ts"],
      ["workers.ts", "./core/kernel.ts"],
      ["testing/a.ts", "../core/kernel.ts"],
      ["assembly/a.ts", "../core/clock.ts"],
      ["assembly/layout.ts", "./kernel.ts"],
      ["adapters/hono/a.ts", "../../core/kernel.ts"],
      ["adapters/hono/a.ts", "../drizzle/a.ts"],
      ["examples/a.ts", "../core/kernel.ts"],
      ["bench/a.ts", "../core/kernel.ts"],
      ["scripts/a.ts", "../core/kernel.ts"],
    ];
    for (const [path, target] of cases) {
      finds(path, `import { a } from "${target}";\n`, /^1 imports .* may not$/);
    }
  });

  it("refuses packages in core, static node: imports in core and foreign peers in adapters", () => {
    finds("core/a.ts", `import fc from "fast-check";\n`, /imports "fast-check"/);
    finds("core/a.ts", `import v8 from "node:v8";\n`, /imports "node:v8"/);
    finds("adapters/hono/a.ts", `import { sql } from "drizzle-orm";\n`, /imports "drizzle-orm"/);
    finds("scripts/a.ts", `import fc from "fast-check";\n`, /imports "fast-check"/);
  });

  it("looks at re-exports, dynamic imports and types as well", () => {
    finds("core/a.ts", `export * from "hono";\n`, /imports "hono"/);
    finds("core/a.ts", `export { a } from "hono";\n`, /imports "hono"/);
    finds("core/a.ts", `await import("hono");\n`, /imports "hono"/);
    finds("core/a.ts", `let a: import("hono").Hono;\n`, /imports "hono"/);
  });

  it("allows what the layout says", () => {
    allows(
      "core/accounts/a.ts",
      `import { A } from "../kernel.ts";\nimport { B } from "../../assembly/layout.ts";\n`,
    );
    allows("assembly/a.ts", `import { A } from "./accounts/token_bucket";\n`);
    allows("adapters/hono/a.ts", `import { A } from "../../mod.ts";\nimport { Hono } from "hono";\n`);
    allows("tests/a_test.ts", `import fc from "fast-check";\nimport { A } from "../core/kernel.ts";\n`);
    allows("examples/replay/a.ts", `import { A } from "../../mod.ts";\nimport fs from "node:fs";\n`);
  });

  it("refuses a file outside the layout", () => {
    finds("elsewhere/a.ts", "let a = 1;\n", /belongs to no part of the layout/);
  });
});

describe("the style checks", () => {
  it("find names that are not snake_case", () => {
    finds("core/tokenBucket.ts", "let a = 1;\n", /not snake_case/);
    finds("scripts/my-script.mjs", "let a = 1;\n", /not snake_case/);
    allows("core/token_bucket.ts", "let a = 1;\n");
  });

  it("find default exports and exports without a docstring", () => {
    finds("core/a.ts", "/** A. */\nexport default class A {}\n", /default export/);
    for (
      const text of ["const A = 1;", "function a(): void {}", "class A {}", "type A = 1;", "interface A {}"]
    ) {
      finds("core/a.ts", `export ${text}\n`, /exports [aA] without a docstring/);
      finds("core/a.ts", `// A plain comment.\nexport ${text}\n`, /exports [aA] without a docstring/);
      allows("core/a.ts", `/** A. */\nexport ${text}\n`);
      allows("tests/a_test.ts", `export ${text}\n`);
    }
    finds("core/a.ts", "class A {}\nexport { A };\n", /exports A without a docstring/);
    allows("core/a.ts", "/** A. */\nclass A {}\nexport { A };\n");
    allows("mod.ts", `export { A } from "./core/a.ts";\n`);
  });

  it("find long files and long functions, but let a list of cases be long", () => {
    finds("core/a.ts", "a();\n".repeat(301), /has 301 lines/);
    allows("core/a.ts", "a();\n".repeat(300));
    const body = "  a();\n";
    finds("core/a.ts", `function a() {\n${body.repeat(59)}}\n`, /function of 61 lines/);
    finds("core/a.ts", `class A {\n  #a() {\n${body.repeat(59)}  }\n}\n`, /function of 61 lines/);
    finds("core/a.ts", `const a = () => {\n${body.repeat(59)}};\n`, /function of 61 lines/);
    allows("core/a.ts", `function a() {\n${body.repeat(58)}}\n`);
    allows("tests/a_test.ts", `describe("a", () => {\n${body.repeat(100)}});\n`);
  });

  it("find any, TODO and what cannot be read", () => {
    finds("tests/a_test.ts", "let a: Map<string, any[]>;\n", /uses any/);
    finds("core/a.ts", `// ${"TO" + "DO"}: later\nlet a = 1;\n`, /has a TODO/);
    finds("core/a.ts", "let a = ;\n", /cannot be read/);
  });

  it("find clocks, timers and chance outside of core/clock.ts", () => {
    for (
      const use of ["Date.now()", "performance.now()", "Math.random()", "new Date()", "globalThis.Date.now()"]
    ) {
      finds("core/a.ts", `let a = ${use};\n`, /take it as an argument/);
      finds("adapters/hono/a.ts", `let a = ${use};\n`, /take it as an argument/);
      finds("testing/a.ts", `let a = ${use};\n`, /take it as an argument/);
    }
    for (const timer of ["setTimeout", "setInterval", "setImmediate"]) {
      finds("core/a.ts", `${timer}(() => {}, 1);\n`, /take it as an argument/);
      finds("core/a.ts", `globalThis.${timer}(() => {}, 1);\n`, /take it as an argument/);
      finds("core/a.ts", `const later = ${timer};\n`, /take it as an argument/);
      allows("workers.ts", `${timer}(() => {}, 1);\n`);
    }
    allows("core/clock.ts", "let a = Date.now() + performance.now();\nsetTimeout(() => {}, 1);\n");
    finds("core/clock.ts", "let a = Math.random();\n", /uses Math.random/);
    finds("tests/a_test.ts", "let a = Math.random();\n", /uses Math.random/);
    allows("core/a.ts", "let a = clock.now() + new Date(0).getTime() + clock.setTimeout;\n");
  });

  it("find mathematics that differs between engines", () => {
    finds("core/a.ts", "let a = 2 ** x;\n", /inexact/);
    finds("assembly/a.ts", "let a = Math.pow(2, x);\n", /inexact/);
    finds("tests/reference/a.ts", "let a = Math.exp(x);\n", /inexact/);
    allows("core/a.ts", "const A_LIMIT = 2 ** 31;\n");
    allows("core/a.ts", "let a = Math.sqrt(Math.floor(x)) * Math.PI;\n");
    allows("tests/a_test.ts", "let a = Math.exp(x);\n");
  });

  it("find decorators in assembly/ that are not @unmanaged", () => {
    allows("assembly/a.ts", "@unmanaged\nclass A { a: i32; }\n");
    finds("assembly/a.ts", "@sealed\nclass A {}\n", /uses @sealed/);
    finds(
      "assembly/a.ts",
      "// @ts-ignore: decorator\n@inline\nfunction a(): void {}\n",
      /decorators must be attached/,
    );
  });
});
