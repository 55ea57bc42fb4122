/**
 * Users' programs, each with some of the peers installed and no others, compiled against the packed declarations with
 * `skipLibCheck: false`. What a peer's own declarations lack is not ours; drizzle-orm's do not compile alone.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, runTool } from "../support/project.ts";
import type { PackedPackage } from "./contents.ts";

/** How packages are found: by Node's rules, and by those of bundlers. */
const MODULES = { nodenext: "nodenext", bundler: "esnext" } as const;
type Resolution = keyof typeof MODULES;

/** A user: what is installed, and a program. Each says once what must not compile, so that a type which became `any` is seen. */
export interface Consumer {
  readonly peers: readonly string[];
  readonly program: string;
  /** All when left out; drizzle-orm takes the compiler six seconds each time. */
  readonly resolutions?: readonly Resolution[];
  readonly skipLibCheck?: boolean;
  /** The compiler's own when left out, which have the DOM's types. */
  readonly lib?: readonly string[];
}

const NODE_TYPES = ["@types/node", "undici-types"];
const DRIZZLE = `import { Admission } from "@sluice/admission";
import { database, MysqlResourceProvider, PgResourceProvider, SqliteResourceProvider } from "@sluice/admission/drizzle";
const admission = new Admission().start();
const sqlite = new SqliteResourceProvider("notes", { file: ":memory:", maxConcurrent: 2 });
// @ts-expect-error: it should be a number.
new SqliteResourceProvider("notes", { file: ":memory:", maxConcurrent: "2" });
export { admission, database, MysqlResourceProvider, PgResourceProvider, sqlite };
`;

/** What a reader of the README copies first. */
const FIRST_START = /```ts\n(.*?)```/s.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1] ?? "";

/** By what they have. */
const CONSUMERS: Readonly<Record<string, Consumer>> = {
  "no peer": {
    peers: [],
    program: `import { Admission, CountingGate, Demand } from "@sluice/admission";
import { admittedFetch } from "@sluice/admission/fetch";
import { ManualClock } from "@sluice/admission/testing";
import { WorkersClock } from "@sluice/admission/workers";
const admission = new Admission({ clock: new ManualClock() }).start();
using grant = await admission.admit(new Demand().add(new CountingGate("gate", 1)));
// @ts-expect-error: it should be a provider that there is.
export const ask = admittedFetch({ admission, provider: "nobody" });
export const waited: number = grant.wallWaitMs;
export const clock = new WorkersClock();
`,
  },
  "the types of Node and none of the DOM": {
    peers: NODE_TYPES,
    lib: ["es2024"],
    program: `import { Admission, CountingGate, Demand, setKernelModule } from "@sluice/admission";
import { admittedFetch } from "@sluice/admission/fetch";
import kernel from "@sluice/admission/kernel.wasm";
import { ManualClock } from "@sluice/admission/testing";
import { WorkersClock } from "@sluice/admission/workers";
setKernelModule(kernel);
// @ts-expect-error: it should be a module.
setKernelModule("kernel.wasm");
const admission = new Admission({ clock: new ManualClock() }).start();
using grant = await admission.admit(new Demand().add(new CountingGate("gate", 1)), { signal: AbortSignal.timeout(1) });
export const waited: number = grant.wallWaitMs;
export const response: Response = await admittedFetch({ admission, provider: "openai" })("https://api.openai.com/v1");
export const clock = new WorkersClock();
`,
  },
  "the README's first program, on Node": {
    peers: NODE_TYPES,
    lib: ["es2024"],
    program: `${FIRST_START}// @ts-expect-error: it should be text.
ask(1);
`,
    resolutions: ["nodenext"],
  },
  "hono": {
    peers: ["hono"],
    program: `import { CountingGate, Demand, type Grant } from "@sluice/admission";
import { admit } from "@sluice/admission/hono";
import { Hono } from "hono";
export const app = new Hono().get("/", admit({ demand: new Demand().add(new CountingGate("gate", 1)) }), (c) => {
  const grant: Grant = c.var.grant;
  // @ts-expect-error: it should be a Grant.
  const wrong: number = c.var.grant;
  return c.text(String([grant, wrong]));
});
`,
  },
  "drizzle-orm": { peers: ["drizzle-orm"], program: DRIZZLE, resolutions: ["nodenext"] },
  "drizzle-orm and pg": {
    peers: ["drizzle-orm", "pg", "@types/pg", "pg-types", "pg-protocol", ...NODE_TYPES],
    program: `${DRIZZLE}// @ts-expect-error: it should be a pool.
new PgResourceProvider("orders", { pool: 1, maxConcurrent: 2 });
`,
    resolutions: ["bundler"],
  },
  "drizzle-orm, mysql2 and hono": {
    peers: ["drizzle-orm", "mysql2", "hono", ...NODE_TYPES],
    program: `${DRIZZLE}// @ts-expect-error: it should be a pool.
new MysqlResourceProvider("orders", { pool: 1, maxConcurrent: 2 });
// @ts-expect-error: it should be a middleware.
export const wrong: number = database(admission, sqlite);
`,
    resolutions: ["nodenext"],
    skipLibCheck: true,
  },
};

/** Everything that does not compile, in our declarations or in a program. */
export function askCompiler(
  packed: PackedPackage,
  consumers: Readonly<Record<string, Consumer>> = CONSUMERS,
): string[] {
  return Object.entries(consumers).flatMap(([name, consumer]) => {
    // Outside of the project, whose own node_modules would be found from below.
    const folder = mkdtempSync(join(tmpdir(), "sluice-consumer-"));
    try {
      install(folder, packed, consumer);
      const { resolutions = ["nodenext", "bundler"] } = consumer;
      return resolutions.flatMap((resolution) =>
        compile(folder, resolution, consumer).map((finding) => `tsc, ${resolution}, with ${name}: ${finding}`)
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

function install(folder: string, { files }: PackedPackage, { peers, program }: Consumer): void {
  const modules = join(folder, "node_modules");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [path, text] of files) {
    if (/(\.d\.ts|\.json)$/.test(path)) write(join(modules, "@sluice/admission", path), text);
  }
  for (const peer of peers) {
    mkdirSync(dirname(join(modules, peer)), { recursive: true });
    symlinkSync(join(ROOT, "node_modules", peer), join(modules, peer), "junction");
  }
  write(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  write(join(folder, "main.ts"), program);
}

function compile(
  folder: string,
  resolution: Resolution,
  { peers, skipLibCheck = false, lib }: Consumer,
): string[] {
  const compilerOptions = {
    module: MODULES[resolution],
    moduleResolution: resolution,
    target: "es2022",
    ...(lib === undefined ? {} : { lib }),
    types: peers.includes("@types/node") ? ["node"] : [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck,
    // A peer must not find the project's packages where it really lies.
    preserveSymlinks: true,
    noEmit: true,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  const { status, output } = runTool("tsc", ["-p", "."], { cwd: folder, capture: true });
  const lines = output.split("\n").map((line) => line.trimEnd());
  const findings = lines.filter((line) => /^(main\.ts|node_modules\/@sluice\/|error )/.test(line));
  const isOfPeers = lines.some((line) => line.startsWith("node_modules/"));
  return status === 0 || findings.length > 0 || isOfPeers
    ? findings
    : [`it fails: ${output.slice(0, 1_000)}`];
}
