/** The hash that ties the generated kernel to its sources. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "./project.ts";

/** The sha256, in hex, of every file of assembly/ with its path: the same sources give the same hash anywhere. */
export function hashAssembly(root: string): string {
  const hash = createHash("sha256");
  for (const path of listFiles(root, "assembly", (path) => path.endsWith(".ts"))) {
    const content = readFileSync(join(root, path), "utf8").replaceAll("\r\n", "\n");
    hash.update(`${path}\0${content}\0`);
  }
  return hash.digest("hex");
}
