/** MariaDB, from Debian's package. */
import { existsSync } from "node:fs";
import { NAME, type Recipe } from "./recipe.ts";

const SERVER = "/usr/sbin/mariadbd";
const INSTALLER = "/usr/bin/mariadb-install-db";
const SIZES = ["--innodb-buffer-pool-size=32M", "--innodb-log-file-size=8M"];

/** How it is run: nothing has to survive a crash of the machine, so it never waits for the disk. */
export const mariadb: Recipe = {
  name: "MariaDB",
  debianPackage: "mariadb-server",
  isInstalled: existsSync(SERVER) && existsSync(INSTALLER),
  users: ["mysql", "nobody"],
  readyLine: "ready for connections",
  failure: /\[ERROR\] Aborting/,
  signals: { stop: "TERM", crash: "KILL" },
  // Run at each start, before it takes connections.
  files: ({ password }) => ({
    "init.sql": [
      `ALTER USER root@localhost IDENTIFIED BY '${password}';`,
      `CREATE DATABASE IF NOT EXISTS ${NAME};`,
      `CREATE USER IF NOT EXISTS ${NAME}@'127.0.0.1' IDENTIFIED BY '${password}';`,
      `GRANT ALL ON *.* TO ${NAME}@'127.0.0.1';`,
    ].join("\n") + "\n",
  }),
  prepare: ({ folder }) => [
    INSTALLER,
    "--no-defaults",
    `--datadir=${folder}/data`,
    // One that starts removes what others have in a folder for temporary tables that they share.
    `--tmpdir=${folder}`,
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    "--skip-name-resolve",
    ...SIZES,
  ],
  serve: ({ folder, port }) => [
    SERVER,
    "--no-defaults",
    `--datadir=${folder}/data`,
    `--tmpdir=${folder}`,
    `--socket=${folder}/mariadb.sock`,
    `--pid-file=${folder}/mariadb.pid`,
    `--init-file=${folder}/init.sql`,
    "--bind-address=127.0.0.1",
    `--port=${port}`,
    "--skip-name-resolve",
    "--skip-log-bin",
    // What was committed outlives a crash of the server.
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-flush-method=nosync",
    "--max-connections=120",
    ...SIZES,
  ],
  url: ({ port, password }) => `mysql://${NAME}:${password}@127.0.0.1:${port}/${NAME}`,
};
