/**
 * `npm run pack`: builds the npm package in out/package and its tarball in out/.
 *
 * One ESM bundle per entry, sharing chunks: a class must be the same class whichever entry it is imported from. tsc
 * writes the declarations. The kernel is embedded, and lies beside it as kernel.wasm for runtimes that forbid compiling.
 */
import { build } from "esbuild";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { withClassNames } from "./pack/class_names.ts";
import { forEveryUser, reachableDeclarations } from "./pack/declarations.ts";
import { packedText, textPaths } from "./pack/texts.ts";
import { ENTRIES, listFiles, ROOT, runTool } from "./support/project.ts";

/** The project's own manifest. */
const SOURCE = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, unknown>;
/** What an adapter needs and its user installs: never bundled. */
const PEERS = Object.keys(SOURCE["peerDependencies"] ?? {});

/** The fields of it that users get; repository, homepage and bugs once there are any. */
const SHIPPED_FIELDS = [
  ...["name", "version", "description", "keywords", "license", "repository", "homepage", "bugs", "engines"],
  ...["peerDependencies", "peerDependenciesMeta", "publishConfig"],
];

/** The folder of the package before it is packed. */
export const PACKAGE: string = join(ROOT, "out", "package");

/** Builds everything; gives the tarball's path. */
export async function pack(): Promise<string> {
  const texts = textPaths();
  const missing = [...Object.values(ENTRIES), ...texts].filter((path) => !existsSync(join(ROOT, path)));
  if (missing.length > 0) throw new Error(`Cannot pack: ${missing.join(", ")} missing.`);
  rmSync(PACKAGE, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  mkdirSync(PACKAGE, { recursive: true });
  await bundle();
  await writeKernel();
  writeDeclarations();
  mkdirSync(join(PACKAGE, "docs"));
  for (const path of texts) writeFileSync(join(PACKAGE, path), packedText(path, texts));
  writeFileSync(join(PACKAGE, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  return makeTarball();
}

/** The file names of an entry's bundle, without its extension. */
export function bundleName(entry: string): string {
  return entry === "." ? "index" : entry.slice(2);
}

async function bundle(): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(ENTRIES).map(([entry, path]) => ({ in: path, out: bundleName(entry) })),
    outdir: join(PACKAGE, "dist"),
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "node20",
    external: PEERS.flatMap((peer) => [peer, `${peer}/*`]),
    inject: ["scripts/pack/symbols.ts"],
    define: { "Symbol.dispose": "symbolDispose", "Symbol.asyncDispose": "symbolAsyncDispose" },
    legalComments: "none",
    logLevel: "warning",
  });
  mkdirSync(join(PACKAGE, "dist"));
  for (const { path, text } of outputFiles) writeFileSync(path, withClassNames(text));
}

/** The same bytes that are embedded: there is one kernel. */
async function writeKernel(): Promise<void> {
  const { KERNEL_BASE64 } = await import(join(ROOT, "core/generated/kernel_bytes.ts")) as {
    KERNEL_BASE64: string;
  };
  writeFileSync(join(PACKAGE, "kernel.wasm"), Buffer.from(KERNEL_BASE64, "base64"));
  // TypeScript takes `import module from "@sluice/admission/kernel.wasm"` for what setKernelModule takes, as Workers give it; the
  // name WebAssembly.Module is in the types of the DOM and of Workers, which not everybody has.
  writeFileSync(join(PACKAGE, "kernel.d.ts"), "declare const module: object;\nexport default module;\n");
}

function writeDeclarations(): void {
  const { status } = runTool("tsc", ["-p", "tsconfig.build.json"]);
  if (status !== 0) {
    throw new Error("Cannot pack: tsc could not write the declarations, its message is above.");
  }
  const folder = join(PACKAGE, "types");
  for (const path of listFiles(folder, ".", (path) => path.endsWith(".d.ts"))) {
    const text = readFileSync(join(folder, path), "utf8");
    const rewritten = text.replace(
      /((?:from|import)\s*\(?\s*["']\.{1,2}\/[^"']*?)(?<!\.d)\.ts(["'])/g,
      "$1.js$2",
    );
    if (/["']\.{1,2}\/[^"']*\.ts["']/.test(rewritten)) {
      throw new Error(`Cannot pack: ${path} still names a .ts file.`);
    }
    writeFileSync(join(folder, path), forEveryUser(path, rewritten));
  }
  removeInnerDeclarations(folder);
}

/** What no entry leads to tells users nothing. */
function removeInnerDeclarations(folder: string): void {
  const paths = listFiles(folder, ".", () => true);
  const known = new Set(paths);
  const entries = Object.values(ENTRIES).map((path) => path.replace(/\.ts$/, ".d.ts"));
  const reached = reachableDeclarations(
    entries,
    (path) => known.has(path) ? readFileSync(join(folder, path), "utf8") : undefined,
  );
  for (const path of paths.filter((path) => !reached.has(path))) rmSync(join(folder, path));
}

function manifest(): Record<string, unknown> {
  const shipped = Object.fromEntries(
    SHIPPED_FIELDS.flatMap((key) => key in SOURCE ? [[key, SOURCE[key]]] : []),
  );
  const exports = Object.entries(ENTRIES).map(([entry, path]) => [
    entry,
    { types: `./types/${path.replace(/\.ts$/, ".d.ts")}`, default: `./dist/${bundleName(entry)}.js` },
  ]);
  return {
    ...shipped,
    type: "module",
    sideEffects: false,
    exports: {
      ...Object.fromEntries(exports),
      "./kernel.wasm": { types: "./kernel.d.ts", default: "./kernel.wasm" },
      "./package.json": "./package.json",
    },
  };
}

function makeTarball(): string {
  const { status, output } = runTool("npm", [
    "pack",
    PACKAGE,
    "--pack-destination",
    "out",
    "--loglevel=error",
  ], {
    capture: true,
  });
  if (status !== 0) throw new Error(`Cannot pack: npm pack failed.\n${output}`);
  const name = readdirSync(join(ROOT, "out")).find((each) => each === output.trim().split("\n").at(-1));
  if (name === undefined) throw new Error(`Cannot pack: npm pack named no tarball.\n${output}`);
  return join(ROOT, "out", name);
}

if (import.meta.main) {
  try {
    const tarball = await pack();
    const bytes = readFileSync(tarball).length;
    console.log(`packed ${tarball} (${(bytes / 1024).toFixed(1)} kB)`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
