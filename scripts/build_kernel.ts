/**
 * Compiles assembly/ to WebAssembly and writes it, as base64, to core/generated/kernel_bytes.ts.
 *
 * `npm run build` writes; `npm run build -- --check` compiles again and fails when the file in the tree is not, byte
 * for byte, what it would write. asc is pinned to the digit because its output must not depend on the machine.
 */
import asc from "assemblyscript/asc";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { hashAssembly } from "./support/assembly_hash.ts";
import { ROOT } from "./support/project.ts";

const GENERATED = "core/generated/kernel_bytes.ts";

/** `--use abort=` turns a failed assert into a trap, so that asserts stay on and nothing is imported. */
const ASC_FLAGS = ["--runtime", "stub", "-O3", "--enable", "simd", "--use", "abort="];

/** Compiles assembly/kernel.ts below `root`. Throws with the compiler's own message. */
export async function compileKernel(root: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!existsSync(join(root, "assembly/kernel.ts"))) {
    throw new Error("Cannot build the kernel: assembly/kernel.ts does not exist.");
  }
  const output = new Map<string, Uint8Array | string>();
  const result = await asc.main(["assembly/kernel.ts", "--outFile", "kernel.wasm", ...ASC_FLAGS], {
    readFile: (name, folder) => readText(join(root, folder === "." ? "" : folder, name)),
    writeFile: (name, content) => void output.set(name, content),
    listFiles: () => [],
  });
  const bytes = output.get("kernel.wasm");
  const messages = result.stderr.toString();
  if (result.error !== null || !(bytes instanceof Uint8Array)) {
    throw new Error(`Cannot build the kernel:\n${messages}${result.error ?? ""}`);
  }
  if (messages.trim() !== "") console.warn(messages);
  const own = new Uint8Array(bytes);
  refuseImports(own);
  return own;
}

function readText(path: string): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** The kernel is pure; an import would hand it a clock, chance or user code. */
function refuseImports(bytes: Uint8Array<ArrayBuffer>): void {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(bytes));
  if (imports.length === 0) return;
  const names = imports.map((each) => `${each.module}.${each.name}`).join(", ");
  throw new Error(`Cannot use the kernel: it imports ${names}, it must import nothing.`);
}

/** The text of core/generated/kernel_bytes.ts. */
export function renderKernel(hash: string, bytes: Uint8Array): string {
  return `// Written by scripts/build_kernel.ts from assembly/: do not edit, run "npm run build" instead.

/** The sha256 of the AssemblyScript sources the kernel was compiled from. */
export const KERNEL_HASH: string = "${hash}";

/** The kernel, a WebAssembly module of ${bytes.length} bytes that imports nothing, in base64. */
export const KERNEL_BASE64: string =
  "${Buffer.from(bytes).toString("base64")}";
`;
}

/** Builds, or with `check` compares; returns the exit status. */
async function main(check: boolean): Promise<number> {
  const started = performance.now();
  const bytes = await compileKernel(ROOT);
  const text = renderKernel(hashAssembly(ROOT), bytes);
  const path = join(ROOT, GENERATED);
  const present = existsSync(path) ? readFileSync(path, "utf8").replaceAll("\r\n", "\n") : null;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (check) {
    if (present === text) {
      return report(`kernel: ${GENERATED} is fresh (${bytes.length} bytes, ${seconds} s)`);
    }
    console.error(`Cannot go on: ${GENERATED} is not what assembly/ compiles to. Run "npm run build".`);
    return 1;
  }
  mkdirSync(dirname(path), { recursive: true });
  if (present !== text) writeFileSync(path, text);
  return report(
    `kernel: ${bytes.length} bytes in ${seconds} s, ${
      present === text ? "unchanged" : "written"
    }: ${GENERATED}`,
  );
}

function report(line: string): number {
  console.log(line);
  return 0;
}

if (import.meta.main) {
  try {
    process.exitCode = await main(process.argv.includes("--check"));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
