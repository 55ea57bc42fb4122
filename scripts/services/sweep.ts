/** Removes what was left by runs whose keeper was killed as well. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Folders of servers are named after this and the process that made them. */
export const FOLDER_PREFIX = "sluice-services-";

/** Ends the servers of folders whose maker is gone, and removes these folders. */
export function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const maker = Number(name.slice(FOLDER_PREFIX.length).split("-")[0]);
    if (!isAlive(maker)) remove(join(tmpdir(), name));
  }
}

/** A keeper may be removing the same folder, and on a shared machine it may be another user's: then it stays. */
function remove(folder: string): void {
  try {
    const pid = Number(readFileSync(join(folder, "server.pid"), "utf8"));
    // The number may be another program's by now.
    if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)) process.kill(pid, "SIGKILL");
  } catch {
    // It has ended, or never started.
  }
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // As said.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
