import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../examples/replay/user_error.ts";
import { ROOT, runTool } from "../scripts/support/project.ts";

const FOLDER = join(ROOT, "bench");

/** Installs what bench/package.json names into bench/node_modules, when anything is missing or of another version. */
export function installPeers(tell: (text: string) => void): void {
  const wanted = dependenciesOf(join(FOLDER, "package.json"));
  const stale = [...wanted].filter(([name, version]) => installedVersion(name) !== version).map(([name]) =>
    name
  );
  if (stale.length === 0) return;
  tell(
    `Installing the peers (${stale.join(", ")}) into bench/node_modules; this needs half a minute at most.`,
  );
  const { status, output } = runTool("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: FOLDER,
    capture: true,
    timeoutMs: 180_000,
  });
  if (status === 0) return;
  throw new UserError(`Cannot install the peers: "npm ci" in bench/ failed.\n${output.trim()}`);
}

function dependenciesOf(path: string): Map<string, string> {
  const { dependencies } = JSON.parse(readFileSync(path, "utf8")) as { dependencies: Record<string, string> };
  return new Map(Object.entries(dependencies));
}

function installedVersion(name: string): string | null {
  const path = join(FOLDER, "node_modules", name, "package.json");
  if (!existsSync(path)) return null;
  return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
}
