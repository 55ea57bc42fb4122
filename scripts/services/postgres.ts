/** PostgreSQL, from Debian's package. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { NAME, type Recipe } from "./recipe.ts";

const VERSIONS = "/usr/lib/postgresql";

/** The programs of the newest version that is installed. */
function newestPrograms(): string | null {
  if (!existsSync(VERSIONS)) return null;
  const newestFirst = readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one));
  const found = newestFirst.map((version) => join(VERSIONS, version, "bin")).find((folder) =>
    existsSync(join(folder, "postgres")) && existsSync(join(folder, "initdb"))
  );
  return found ?? null;
}

const programs = newestPrograms();

/** How it is run: nothing has to survive a crash of the machine, so it never waits for the disk. */
export const postgres: Recipe = {
  name: "PostgreSQL",
  debianPackage: "postgresql",
  isInstalled: programs !== null,
  users: ["postgres", "nobody"],
  readyLine: "database system is ready to accept connections",
  failure: /FATAL: .*(?:could not|lock file|permission|invalid)/,
  signals: { stop: "INT", crash: "QUIT" },
  files: ({ password }) => ({ password }),
  prepare: ({ folder }) => [
    join(programs ?? "", "initdb"),
    `--pgdata=${folder}/data`,
    `--username=${NAME}`,
    `--pwfile=${folder}/password`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-locale",
    "--no-sync",
  ],
  serve: ({ folder, port }) => [
    join(programs ?? "", "postgres"),
    "-D",
    `${folder}/data`,
    ...settings({
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: folder,
      fsync: "off",
      full_page_writes: "off",
      shared_buffers: "16MB",
      max_connections: "120",
    }),
  ],
  url: ({ port, password }) => `postgres://${NAME}:${password}@127.0.0.1:${port}/postgres`,
};

function settings(values: Record<string, string>): string[] {
  return Object.entries(values).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
