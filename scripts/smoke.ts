/**
 * `npm run smoke`: packs the library, installs the tarball in an empty folder and runs one program from it everywhere:
 * type-checked, then on Node, Bun, Deno, workerd (injected kernel) and in a browser bundle. The network is not used.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { pack } from "./pack.ts";
import { runInBrowser } from "./smoke/browser.ts";
import {
  DRIZZLE_COMMANDS,
  runOnServer,
  runOnWorkerd,
  SERVER_COMMANDS,
  type SmokeResult,
  WORKERD_DATES,
} from "./smoke/servers.ts";
import { openWorkspace } from "./smoke/workspace.ts";

function report(runtime: string, result: SmokeResult): boolean {
  console.log(`smoke ${runtime}: ${result.isOk ? "" : "FAILED: "}${result.text}`);
  return result.isOk;
}

async function main(): Promise<number> {
  console.log("smoke: packing ...");
  const tarball = await pack();
  console.log(`smoke: installing and type-checking against ${tarball} ...`);
  const workspace = await openWorkspace(tarball);
  try {
    const results = Object.entries({ ...SERVER_COMMANDS, ...DRIZZLE_COMMANDS }).map(([name, command]) =>
      report(name, runOnServer(command, workspace.folder))
    );
    for (const date of WORKERD_DATES) {
      results.push(report(`workerd ${date}`, await runOnWorkerd(workspace.folder, date)));
    }
    results.push(
      report("browser", await runInBrowser(workspace.folder, (path) => readFileSync(path, "utf8"))),
    );
    const failed = results.filter((isOk) => !isOk).length;
    console.log(`smoke: ${results.length - failed} passed, ${failed} failed`);
    return failed > 0 ? 1 : 0;
  } finally {
    workspace.dispose();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
