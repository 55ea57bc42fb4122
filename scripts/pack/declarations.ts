/** Which modules a file of the package names, and which declarations a user can reach from an entry. */
import { posix } from "node:path";

/** Static and dynamic imports, re-exports and `import("...")` types, outside of comments at the start of a line. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*["']([^"'\n]+)["']/g;

/** The module names in the text of a script or a declaration, each once. */
export function modulesOf(text: string): string[] {
  const code = text.replace(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, "");
  return [...new Set([...code.matchAll(IMPORT)].map(([, name = ""]) => name))];
}

/** Peers that a user of an entry may do without, by the folder of its declarations. */
const SPARED_PEERS: Readonly<Record<string, readonly string[]>> = {
  "adapters/drizzle/": ["hono", "mysql2", "pg"],
};

/**
 * A declaration as every user can compile it, also with `skipLibCheck: false`. Types of a peer that is not installed stand for
 * anything there: nobody can hand over a value of one. And who has `using` compiled for an older engine gets its types with ours.
 */
export function forEveryUser(path: string, text: string): string {
  const spared = Object.entries(SPARED_PEERS).flatMap(([folder, peers]) =>
    path.startsWith(folder) ? peers : []
  );
  const lines = text.split("\n").flatMap((line) => {
    const isSpared = modulesOf(line).some((module) =>
      spared.some((peer) => module === peer || module.startsWith(`${peer}/`))
    );
    return isSpared ? ["// @ts-ignore: an optional peer", line] : [line];
  });
  if (/\b(Async)?Disposable\b|\bSymbol\.(asyncD|d)ispose\b/.test(text)) {
    lines.unshift('/// <reference lib="esnext.disposable" />');
  }
  return lines.join("\n");
}

/** The path to which a declaration's relative import leads. */
export function declarationOf(importer: string, module: string): string {
  return posix.join(posix.dirname(importer), module).replace(/\.js$/, ".d.ts");
}

/** The declarations that the named ones lead to, themselves included. A name that leads nowhere is passed over. */
export function reachableDeclarations(
  entries: readonly string[],
  read: (path: string) => string | undefined,
): Set<string> {
  const reached = new Set<string>();
  const open = [...entries];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const text = reached.has(path) ? undefined : read(path);
    if (text === undefined) continue;
    reached.add(path);
    const relative = modulesOf(text).filter((module) => module.startsWith("."));
    for (const module of relative) open.push(declarationOf(path, module));
  }
  return reached;
}
