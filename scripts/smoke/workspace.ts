/** A folder outside the project in which the tarball is installed the way a user installs it. */
import { build } from "esbuild";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runTool } from "../support/project.ts";

/** The installed package, with the smoke program compiled against it. */
export interface Workspace {
  readonly folder: string;
  /** Removes the folder. */
  dispose(): void;
}

const TSCONFIG = {
  compilerOptions: {
    target: "esnext",
    lib: ["esnext", "dom"],
    module: "nodenext",
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  },
  include: ["*.ts"],
};

/** The peers of the adapters, from where the project has them: without a network. */
function peers(): string[] {
  return ["drizzle-orm", "hono"].map((name) => join(ROOT, "node_modules", name));
}

/** The entry for Node, Bun and Deno. */
const MAIN = `import { runSmoke } from "./program.js";\nconsole.log("smoke ok: " + await runSmoke());\n`;

/** The same for the program with Drizzle, in a folder of its own. */
const DRIZZLE_MAIN = MAIN.replaceAll("program", "drizzle_program").replace("runSmoke()", "runDrizzleSmoke()")
  .replace("runSmoke", "runDrizzleSmoke");

/** The entry for workerd: the compiled kernel is handed over, since a handler must not compile. */
const WORKER = `import { setKernelModule } from "@sluice/admission/workers";
import kernel from "@sluice/admission/kernel.wasm";
import { runSmoke } from "./program.js";

setKernelModule(kernel);

export default {
  async fetch(): Promise<Response> {
    try {
      return new Response("smoke ok: " + await runSmoke());
    } catch (error) {
      return new Response(error instanceof Error ? String(error.stack) : String(error), { status: 500 });
    }
  },
};
`;

function must(what: string, result: { status: number; output: string }): void {
  if (result.status !== 0) throw new Error(`Cannot ${what}:\n${result.output}`);
}

/** Installs the tarball without a network, type-checks the program against it and compiles it for Node 20. */
export async function openWorkspace(tarball: string): Promise<Workspace> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-smoke-"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write("package.json", JSON.stringify({ name: "smoke", private: true, type: "module" }));
  write("tsconfig.json", JSON.stringify(TSCONFIG));
  copyFileSync(join(ROOT, "scripts/smoke/program.ts"), join(folder, "program.ts"));
  write("main.ts", silent(MAIN));
  write("worker.ts", WORKER);
  const install = [
    "install",
    "--offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    tarball,
    ...peers(),
  ];
  must("install the tarball", runTool("npm", install, { cwd: folder, capture: true }));
  must(
    "type-check the program against the tarball",
    runTool("tsc", ["-p", "."], { cwd: folder, capture: true }),
  );
  addDrizzle(folder);
  await build({
    absWorkingDir: folder,
    entryPoints: ["program.ts", "main.ts", "drizzle/drizzle_program.ts", "drizzle/main.ts"],
    outdir: ".",
    format: "esm",
    target: "node20",
    logLevel: "warning",
  });
  return {
    folder,
    dispose: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}

/** A program with a peer. What the peers' own declarations lack is not ours to check. */
function addDrizzle(folder: string): void {
  const own = join(folder, "drizzle");
  mkdirSync(own);
  copyFileSync(join(ROOT, "scripts/smoke/drizzle_program.ts"), join(own, "drizzle_program.ts"));
  writeFileSync(join(own, "main.ts"), silent(DRIZZLE_MAIN));
  const compilerOptions = { ...TSCONFIG.compilerOptions, skipLibCheck: true };
  writeFileSync(join(own, "tsconfig.json"), JSON.stringify({ ...TSCONFIG, compilerOptions }));
  must(
    "type-check the program with Drizzle",
    runTool("tsc", ["-p", "drizzle"], { cwd: folder, capture: true }),
  );
}

/** Without the types of a runtime there is no console. */
function silent(main: string): string {
  return main.replace("console", "(globalThis as { console: { log(text: string): void } }).console");
}
