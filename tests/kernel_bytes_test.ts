/** The generated kernel belongs to the sources in the tree, and is pure. CI compiles again and compares bytes as well. */
import { describe, it } from "@std/testing/bdd";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { KERNEL_BASE64, KERNEL_HASH } from "../core/generated/kernel_bytes.ts";
import { hashAssembly } from "../scripts/support/assembly_hash.ts";

describe("the generated kernel", () => {
  const module = new WebAssembly.Module(Buffer.from(KERNEL_BASE64, "base64"));

  it("carries the hash of assembly/ as it is in the tree", () => {
    assert.equal(hashAssembly(fileURLToPath(new URL("..", import.meta.url))), KERNEL_HASH);
  });

  it("imports nothing: no clock, no chance, no way to call user code", () => {
    assert.deepEqual(WebAssembly.Module.imports(module), []);
  });

  it("exports functions and its memory, no globals and no tables", () => {
    const exports = WebAssembly.Module.exports(module);
    assert.deepEqual([...new Set(exports.map((each) => each.kind))].sort(), ["function", "memory"]);
  });
});
