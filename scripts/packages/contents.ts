/** What may be in the npm tarball: exactly what its entries need, and nothing of ours beside. */
import { posix } from "node:path";
import { declarationOf, modulesOf, reachableDeclarations } from "../pack/declarations.ts";
import { deadLinks, reachedFrom } from "../support/markdown_links.ts";

/** A packed package: its files by their path in it, and the bytes of the tarball. */
export interface PackedPackage {
  readonly files: ReadonlyMap<string, string>;
  readonly tarballBytes: number;
}

/** Largest tarball, in bytes: about a fifth more than it had when this was last set, so that growth is a decision. */
export const MAX_TARBALL_BYTES = 390_000;

const TEXTS = ["CHANGELOG.md", "LICENSE", "README.md", "kernel.d.ts", "kernel.wasm", "package.json"];
const CHUNK = /^dist\/chunk-[A-Z0-9]{8}\.js$/;

/** The fields of its package.json that are looked at. */
interface Manifest {
  readonly exports?: Record<string, string | { readonly types?: string; readonly default?: string }>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** Everything that is wrong with a package that should have these entries; empty when nothing is. */
export function judgeContents(packed: PackedPackage, entries: readonly string[]): string[] {
  const { files, tarballBytes } = packed;
  const manifest = JSON.parse(files.get("package.json") ?? "{}") as Manifest;
  const findings = [
    ...judgeExports(manifest, entries, files),
    ...judgePeers(manifest),
    ...judgeFiles(manifest, files),
    ...judgeLinks(files),
  ];
  for (const [path, text] of files) {
    if (/\.(js|ts)$/.test(path)) findings.push(...judgeModules(path, text, manifest, files));
  }
  if (tarballBytes > MAX_TARBALL_BYTES) {
    findings.push(`the tarball has ${tarballBytes} bytes, ${MAX_TARBALL_BYTES} is the most`);
  }
  return findings;
}

/** Every entry has types and code, in this order, and nothing else can be imported but the kernel. */
function judgeExports(
  { exports = {} }: Manifest,
  entries: readonly string[],
  files: ReadonlyMap<string, string>,
): string[] {
  const wanted = [...entries, "./kernel.wasm", "./package.json"].sort();
  const found = Object.keys(exports).sort();
  const findings = wanted.join() === found.join()
    ? []
    : [`package.json exports ${found.join(", ")}, it should export ${wanted.join(", ")}`];
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === "string") continue;
    if (Object.keys(target).join() !== "types,default") {
      findings.push(
        `package.json exports ${entry} with ${Object.keys(target)}, not with types, then default`,
      );
    }
    for (const path of Object.values(target)) {
      if (!files.has(posix.normalize(path))) {
        findings.push(`package.json: ${entry} leads to ${path}: no such file`);
      }
    }
  }
  return findings;
}

function judgePeers({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): string[] {
  return Object.keys(peerDependencies)
    .filter((peer) => peerDependenciesMeta[peer]?.optional !== true)
    .map((peer) => `package.json: the peer ${peer} is not optional`);
}

/** The texts, the guides that the README leads to, the targets of the exports, the chunks they share, and their declarations. */
function judgeFiles({ exports = {} }: Manifest, files: ReadonlyMap<string, string>): string[] {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : [target.types ?? "", target.default ?? ""]
  ).map((path) => posix.normalize(path));
  const isDeclaration = (path: string): boolean => path.startsWith("types/");
  const declarations = reachableDeclarations(targets.filter(isDeclaration), (path) => files.get(path));
  const guides = [...reachedFrom("README.md", (path) => files.get(path) ?? null)].filter((path) =>
    path.startsWith("docs/") && files.has(path)
  );
  const wanted = new Set([...TEXTS, ...guides, ...targets, ...declarations]);
  return [
    ...[...wanted].filter((path) => !files.has(path)).map((path) => `${path} is missing`),
    ...[...files.keys()].filter((path) => !wanted.has(path) && !CHUNK.test(path)).map((path) =>
      `${path} does not belong into the package`
    ),
  ];
}

/** A reader of the package has no repository. */
function judgeLinks(files: ReadonlyMap<string, string>): string[] {
  const pages = [...files.keys()].filter((path) => path.endsWith(".md"));
  return deadLinks(pages, (path) => files.get(path) ?? null).map((link) => `a link leads nowhere: ${link}`);
}

/** Each module named is a file of the package or of an optional peer; nothing points to sources that are not there. */
function judgeModules(
  path: string,
  text: string,
  { peerDependencies = {} }: Manifest,
  files: ReadonlyMap<string, string>,
): string[] {
  const findings = /^\/\/[#@] sourceMappingURL=/m.test(text) ? [`${path} names a source map`] : [];
  if (/^\/\/\/\s*<reference (?!lib=)/m.test(text)) {
    findings.push(`${path} references types that a user may not have`);
  }
  for (const module of modulesOf(text)) {
    if (!module.startsWith(".")) {
      const isPeer = Object.keys(peerDependencies).some((peer) =>
        module === peer || module.startsWith(`${peer}/`)
      );
      if (!isPeer) findings.push(`${path} imports ${module}, which is no peer`);
    } else if (/\.ts$/.test(module)) {
      findings.push(`${path} names ${module}, a file of TypeScript`);
    } else if (
      !files.has(path.endsWith(".ts") ? declarationOf(path, module) : posix.join(posix.dirname(path), module))
    ) {
      findings.push(`${path} imports ${module}, which is not in the package`);
    }
  }
  return findings;
}
