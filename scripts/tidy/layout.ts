/** Who may import whom, as data: docs/architecture.md tells the reasons. A file belongs to the first zone that fits. */

/** One part of the tree and what its files may import. */
export interface Zone {
  readonly name: string;
  /** Paths of the zone: a regular expression over the path from the root. */
  readonly paths: RegExp;
  /** Names of the zones it may import from; `*` stands for all. */
  readonly zones: readonly string[];
  /** Bare specifiers it may import: exact, or `name/*`; `node:*` stands for all of Node's own. */
  readonly packages: readonly string[];
}

const ANYTHING = ["*"];

/** The import table. */
export const ZONES: readonly Zone[] = [
  { name: "tests", paths: /^tests\/|_test\.ts$/, zones: ANYTHING, packages: ANYTHING },
  { name: "mod", paths: /^mod\.ts$/, zones: ["core"], packages: [] },
  { name: "workers", paths: /^workers\.ts$/, zones: ["mod"], packages: [] },
  { name: "testing", paths: /^testing\//, zones: ["mod", "testing"], packages: [] },
  { name: "core", paths: /^core\//, zones: ["core", "layout"], packages: [] },
  { name: "layout", paths: /^assembly\/layout\.ts$/, zones: [], packages: [] },
  { name: "assembly", paths: /^assembly\//, zones: ["assembly", "layout"], packages: [] },
  {
    name: "hono adapter",
    paths: /^adapters\/hono/,
    zones: ["mod", "hono adapter", "shared adapter"],
    packages: ["hono", "hono/*"],
  },
  {
    name: "drizzle adapter",
    paths: /^adapters\/drizzle/,
    zones: ["mod", "drizzle adapter", "shared adapter"],
    packages: ["drizzle-orm", "drizzle-orm/*", "pg", "mysql2", "mysql2/*", "hono"],
  },
  { name: "shared adapter", paths: /^adapters\//, zones: ["mod", "shared adapter"], packages: [] },
  {
    name: "examples",
    paths: /^examples\//,
    zones: ["mod", "workers", "testing", "hono adapter", "drizzle adapter", "shared adapter", "examples"],
    // On Workers the platform gives the compiled kernel and its own module; async-sema is what the picture compares with.
    packages: [
      "async-sema",
      "node:*",
      "hono",
      "hono/*",
      "@hono/node-server",
      "drizzle-orm",
      "drizzle-orm/*",
      "pg",
      "@sluice/admission/kernel.wasm",
      "cloudflare:workers",
    ],
  },
  // The one file of the bench that measures the border itself; the others use what every user has.
  { name: "bench border", paths: /^bench\/border\.ts$/, zones: ["core"], packages: [] },
  {
    name: "bench",
    paths: /^bench\//,
    zones: [
      "mod",
      "workers",
      "testing",
      "hono adapter",
      "drizzle adapter",
      "shared adapter",
      "examples",
      "scripts",
      "bench border",
      "bench",
    ],
    packages: ANYTHING,
  },
  // It meets every error that a user can, to write docs/errors.md.
  {
    name: "errors page",
    paths: /^scripts\/errors(\.ts$|\/)/,
    zones: ["mod", "testing", "hono adapter", "shared adapter", "scripts", "errors page"],
    packages: ["node:*"],
  },
  {
    name: "scripts",
    paths: /^scripts\//,
    zones: ["scripts"],
    // The smoke program is a user's: it imports the package by name.
    packages: [
      "node:*",
      "assemblyscript/asc",
      "esbuild",
      "@babel/parser",
      "@arethetypeswrong/core",
      "publint",
      "publint/utils",
      "@sluice/admission",
      "@sluice/admission/drizzle",
      "@sluice/admission/fetch",
      "@sluice/admission/hono",
      "@sluice/admission/testing",
      "@sluice/admission/workers",
      "drizzle-orm/sqlite-core",
      "hono",
    ],
  },
];

/** The zone of a path, or null for a file outside the layout. */
export function zoneOf(path: string): Zone | null {
  return ZONES.find((zone) => zone.paths.test(path)) ?? null;
}

/** Clocks, timers and chance, under the names the sources use. */
export const CLOCKS: readonly string[] = ["Date.now", "performance.now", "new Date()"];
/** Timers. */
export const TIMERS: readonly string[] = ["setTimeout", "setInterval", "setImmediate"];
/** Chance. */
export const CHANCE: readonly string[] = ["Math.random"];

/**
 * What of these a path may use: the first that fits. Time and chance enter the library by argument, so that one file
 * has each. Tests and examples take their chance from a seed they print, so that a failure can be run again.
 */
export const ALLOWANCES: readonly { readonly paths: RegExp; readonly uses: readonly string[] }[] = [
  { paths: /^core\/clock\.ts$/, uses: [...CLOCKS, ...TIMERS] },
  { paths: /^core\/models\/retry_delay\.ts$/, uses: CHANCE },
  { paths: /^(workers\.ts|testing\/)/, uses: TIMERS },
  { paths: /^(core|adapters|assembly)\/|^mod\.ts$/, uses: [] },
  { paths: /^(tests|examples)\//, uses: [...CLOCKS, ...TIMERS] },
  { paths: /^(bench|scripts)\//, uses: [...CLOCKS, ...TIMERS, ...CHANCE] },
];

/** Engines differ in the last bit of these; where every runtime must get the same bytes they are not used. */
export const EXACT_ZONES: RegExp = /^(core|assembly|tests\/reference|examples\/replay)\//;
/** The members of Math that are exact everywhere. */
export const EXACT_MATH: readonly string[] =
  "abs ceil floor round trunc sign min max sqrt imul clz32 fround random".split(" ");

/** Files whose exports need a docstring: all that ships. */
export const DOCUMENTED: RegExp = /^(mod\.ts$|workers\.ts$|core\/|testing\/|adapters\/)/;
/** Files that are written by a script and keep no rule but the import table's. */
export const GENERATED: RegExp = /^core\/generated\//;
/** Files that a runtime wants to have a default export. */
export const DEFAULT_EXPORTS: RegExp = /^(examples|tests\/fixtures)\/workers\//;

/** The longest file, in lines. */
export const MAX_FILE_LINES = 300;
/** The longest function, in lines; the body of a `describe` is a list of cases and does not count. */
export const MAX_FUNCTION_LINES = 60;
