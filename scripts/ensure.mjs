/**
 * The one script that must run before anything is installed: plain JavaScript, no dependency.
 *
 * `node scripts/ensure.mjs SCRIPT [args]` installs the development dependencies when they are missing or not those
 * package.json names, then runs SCRIPT on Deno (which is one of them). So every command works as the first one in a
 * fresh clone. Without npm it installs with the runtime that runs it, `deno install` or `bun install`.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");

/** The installed version of a package, or null. */
function installedVersion(name) {
  try {
    return JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
  } catch {
    return null;
  }
}

/** The packages of package.json that are missing or of another version. All are pinned, so equality is the test. */
function staleDependencies() {
  const wanted = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies;
  return Object.keys(wanted).filter((name) => installedVersion(name) !== wanted[name]);
}

function isCommand(name) {
  return spawnSync(name, ["--version"], { stdio: "ignore", shell: process.platform === "win32" }).status ===
    0;
}

/** The command that installs what package.json names, with whatever this machine has. */
function installCommand() {
  if (isCommand("npm")) return ["npm", ["ci", "--no-audit", "--no-fund", "--foreground-scripts"]];
  const scripts = "--allow-scripts=npm:bun,npm:deno,npm:esbuild,npm:workerd";
  if (process.versions.deno) return [process.execPath, ["install", scripts]];
  if (process.versions.bun) return [process.execPath, ["install", "--no-save"]];
  return null;
}

function install(stale) {
  console.log(
    `Installing ${stale.length} development packages (${stale.join(", ")}); this needs a minute at most.`,
  );
  const command = installCommand();
  if (command === null) {
    fail("Cannot install the development packages: npm is not on the PATH. Install Node with npm.");
  }
  const { status } = spawnSync(command[0], command[1], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    fail(`Cannot install the development packages: ${command[0]} failed, its message is above.`);
  }
  const missing = staleDependencies();
  if (missing.length > 0) {
    fail(
      `Cannot go on: ${
        missing.join(", ")
      } still not as package.json says. Run "npm install" and commit the lock file.`,
    );
  }
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Deno of this project; the one on the PATH only where an installer made no usable one. */
function denoCommand() {
  const local = join(bin, process.platform === "win32" ? "deno.cmd" : "deno");
  return existsSync(local) ? local : "deno";
}

const stale = staleDependencies();
if (stale.length > 0) install(stale);
const [script, ...args] = process.argv.slice(2);
if (script !== undefined) {
  // The caller's folder stays the working folder, because the scripts take file names from the person who runs them.
  const callerFolder = process.env.INIT_CWD ?? process.cwd();
  const result = spawnSync(denoCommand(), [
    "run",
    "-A",
    "--no-check",
    "--config",
    join(root, "deno.json"),
    join(root, script),
    ...args,
  ], {
    cwd: script.startsWith("examples/") ? callerFolder : root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (result.error) {
    fail(`Cannot start Deno: ${result.error.message}. Remove node_modules and run the command again.`);
  }
  process.exit(result.status ?? 1);
}
