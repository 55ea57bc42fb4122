/** Copies of the sources, so that a fault never stands in the tree itself. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { compileKernel, renderKernel } from "../build_kernel.ts";
import { hashAssembly } from "../support/assembly_hash.ts";
import { ROOT } from "../support/project.ts";
import { type Mutant, plant } from "./mutant.ts";

/** What a test file may need; the rest of the tree is left where it is. */
const COPIED = [
  "adapters",
  "assembly",
  "core",
  "deno.json",
  "examples",
  "mod.ts",
  "package.json",
  "testing",
  "tests",
  "workers.ts",
];
const GENERATED = "core/generated/kernel_bytes.ts";

/** The compiler keeps state of its own: one run at a time. */
let compiling: Promise<unknown> = Promise.resolve();

/** The text of the generated file for the sources below `root`. @throws the compiler's own message. */
function buildKernel(root: string): Promise<string> {
  const built = compiling.then(async () => renderKernel(hashAssembly(root), await compileKernel(root)));
  compiling = built.catch(() => {});
  return built;
}

/** One copy of the sources, in which one fault at a time is planted and taken out again. */
export class Workspace {
  readonly root: string;
  readonly #kernel: string;

  private constructor(root: string, kernel: string) {
    this.root = root;
    this.#kernel = kernel;
  }

  /** Copies the tree below `from`, and builds the kernel of the copy. */
  static async open(from: string): Promise<Workspace> {
    const root = mkdtempSync(join(tmpdir(), "sluice-mutants-"));
    for (const name of COPIED.filter((each) => existsSync(join(from, each)))) {
      cpSync(join(from, name), join(root, name), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"), "junction");
    const kernel = await buildKernel(root);
    writeFileSync(join(root, GENERATED), kernel);
    return new Workspace(root, kernel);
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Runs `trial` with the fault in place, and repairs the copy whatever happens. @throws when it does not compile. */
  async with<R>(mutant: Mutant, trial: () => Promise<R>): Promise<R> {
    const path = join(this.root, mutant.file);
    const sound = readFileSync(path, "utf8");
    const faulty = plant(mutant, sound.replaceAll("\r\n", "\n"));
    if (faulty === null) {
      throw new Error(`Cannot plant ${mutant.id}: its text does not occur once in ${mutant.file}.`);
    }
    const isKernel = mutant.file.startsWith("assembly/");
    try {
      writeFileSync(path, faulty);
      if (isKernel) writeFileSync(join(this.root, GENERATED), await buildKernel(this.root));
      return await trial();
    } finally {
      writeFileSync(path, sound);
      if (isKernel) writeFileSync(join(this.root, GENERATED), this.#kernel);
    }
  }
}

/** Closes copies when the process is interrupted, so that no folder stays behind. */
export function closeOnInterrupt(workspaces: readonly Workspace[]): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      for (const each of workspaces) if (existsSync(each.root)) each.close();
      process.exit(130);
    });
  }
}
