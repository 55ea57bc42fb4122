/**
 * The part of `@std/testing/bdd` that the tests use, over `node:test`, with one verdict per case on every runtime.
 *
 * Deno's `node:test` swallows late throws, unhandled rejections and throws in `afterEach`, and counts a suite as one
 * test; Bun and Node do not (measured on Deno 2.9.6, Bun 1.4.5, Node 20.20). So this module runs the hooks itself,
 * gathers lost errors itself, and registers each case as one flat test named "suite > case".
 */
import process from "node:process";
import { test } from "node:test";

/** The body of a case or of a hook. */
export type Body = () => unknown;

interface Suite {
  readonly name: string;
  readonly parent: Suite | null;
  readonly skipped: boolean;
  /** What a whole file adds: the outermost suite, or one of several that share a process. */
  readonly isFile: boolean;
  readonly hooks: Record<"before" | "after" | "beforeEach" | "afterEach", Body[]>;
  /** Cases below this suite that have not ended yet: `after` runs when it falls to 0. */
  left: number;
  /** Set by the first case that runs: what `before` threw fails each case of the suite. */
  opened: Promise<void> | null;
}

/** How long a case may take. A case that hangs fails alike everywhere, and says so. */
const CASE_LIMIT_MS = Number(process.env.TEST_CASE_LIMIT_MS ?? 120_000);
/** How long the last case of a file waits for errors that come after the end of a case. */
const LAST_WAIT_MS = 25;

// Taken at load, so that a test which replaces the globals cannot stop the clock of this module.
const { setTimeout, clearTimeout } = globalThis;

const root: Suite = newSuite("", null, { isFile: true });
const lost: unknown[] = [];
let current: Suite = root;
let isRunning = false;

process.on("uncaughtException", (error) => void lost.push(error));
process.on("unhandledRejection", (reason) => void lost.push(reason));

function newSuite(name: string, parent: Suite | null, { skipped = false, isFile = false }): Suite {
  return {
    name,
    parent,
    skipped,
    isFile,
    hooks: { before: [], after: [], beforeEach: [], afterEach: [] },
    left: 0,
    opened: null,
  };
}

function openSuite(name: string, body: Body, skipped: boolean): void {
  refuseWhileRunning("describe");
  const outer = current;
  current = newSuite(titleIn(outer, name), outer, { skipped: skipped || outer.skipped });
  try {
    const result = body();
    if (result instanceof Promise) {
      throw new TypeError(`Cannot describe "${name}": its body is async, make it plain.`);
    }
  } finally {
    current = outer;
  }
}

function titleIn(suite: Suite, name: string): string {
  return suite === root ? name : `${suite.name} > ${name}`;
}

function addCase(name: string, body: Body, skipped: boolean): void {
  refuseWhileRunning("it");
  const suite = current;
  const title = titleIn(suite, name);
  if (skipped || suite.skipped) {
    test(title, { skip: true }, () => {});
    return;
  }
  const line = lineage(suite);
  for (const each of line) each.left++;
  test(title, { timeout: CASE_LIMIT_MS + 10_000 }, () => runCase(line, body));
}

/** A case or hook that is added by a running case would never run: say so instead. */
function refuseWhileRunning(what: string): void {
  if (isRunning) {
    throw new Error(`Cannot call ${what} inside a running case: call it while the file is loaded.`);
  }
}

/** The suites around a case, outermost first. */
function lineage(suite: Suite): Suite[] {
  const line: Suite[] = [];
  for (let at: Suite | null = suite; at !== null; at = at.parent) line.unshift(at);
  return line;
}

/** Runs the hooks and the case in order; every error counts, the first is thrown, several as one AggregateError. */
async function runCase(line: readonly Suite[], body: Body): Promise<void> {
  isRunning = true;
  const errors: unknown[] = [];
  const isOpen = await attempt(errors, () => openAll(line));
  if (isOpen) {
    const isReady = await attempt(errors, () => runHooks(line, "beforeEach"));
    if (isReady) await attempt(errors, body);
    for (const suite of line.toReversed()) {
      for (const hook of suite.hooks.afterEach) await attempt(errors, hook);
    }
  }
  await closeEnded(line, errors);
  await pause(line.some((suite) => suite.isFile && suite.left === 0) ? LAST_WAIT_MS : 0);
  errors.push(...lost.splice(0));
  isRunning = false;
  if (errors.length === 1) throw errors[0] ?? new Error(`The case failed with ${String(errors[0])}.`);
  if (errors.length > 1) {
    throw new AggregateError(errors, `${errors.length} errors: ${errors.map(String).join("; ")}`);
  }
}

async function openAll(line: readonly Suite[]): Promise<void> {
  for (const suite of line) {
    suite.opened ??= runHooks([suite], "before");
    await suite.opened;
  }
}

async function runHooks(line: readonly Suite[], kind: "before" | "beforeEach"): Promise<void> {
  for (const suite of line) {
    for (const hook of suite.hooks[kind]) await hook();
  }
}

/** Runs `after` of each suite whose last case this was, innermost first. */
async function closeEnded(line: readonly Suite[], errors: unknown[]): Promise<void> {
  for (const suite of line.toReversed()) {
    if (--suite.left > 0) continue;
    for (const hook of suite.hooks.after) await attempt(errors, hook);
  }
}

/** Runs a body within the limit; true when it neither threw nor rejected. */
async function attempt(errors: unknown[], body: Body): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The case did not end within ${CASE_LIMIT_MS / 1000} s.`)),
      CASE_LIMIT_MS,
    );
  });
  try {
    await Promise.race([limit, body()]);
    return true;
  } catch (error) {
    errors.push(error);
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Lets timers and rejections that are due come out, so that they count against the case that made them.
 * A busy Deno fires the first timer before it tells of a rejection, so there are more turns than one.
 */
async function pause(ms: number): Promise<void> {
  for (const wait of [ms, 0, 0]) await new Promise((resolve) => setTimeout(resolve, wait));
}

function addHook(kind: keyof Suite["hooks"], body: Body): void {
  refuseWhileRunning(kind);
  // Bun keeps one instance of this module for all files it runs, so such a hook would run for the next file as well.
  if (current.isFile) throw new Error(`Cannot call ${kind} outside of a suite: move it into a describe.`);
  current.hooks[kind].push(body);
}

/** A function of this module that has a `skip` form. */
export interface Registrar {
  (name: string, body: Body): void;
  /** The same, but what it adds is counted as skipped and never runs. */
  skip(name: string, body?: Body): void;
}

/** Opens a suite; its body adds cases, hooks and further suites at once. */
export const describe: Registrar = Object.assign(
  (name: string, body: Body) => openSuite(name, body, false),
  { skip: (name: string, body: Body = () => {}) => openSuite(name, body, true) },
);

/** Adds a case to the suite that is open. */
export const it: Registrar = Object.assign(
  (name: string, body: Body) => addCase(name, body, false),
  { skip: (name: string, body: Body = () => {}) => addCase(name, body, true) },
);

/**
 * Tells that what is added from now on stands in a file that shares its process with others: the file is a suite around its
 * own, with the hooks given.
 */
export function openFile(path: string, hooks: { readonly before: Body; readonly after: Body }): void {
  current = newSuite(path, root, { isFile: true });
  current.hooks.before.push(hooks.before);
  current.hooks.after.push(hooks.after);
}

/** Adds a hook that runs once, before the first case of the suite. */
export function before(body: Body): void {
  addHook("before", body);
}

/** Adds a hook that runs once, after the last case of the suite. */
export function after(body: Body): void {
  addHook("after", body);
}

/** Adds a hook that runs before each case of the suite and of the suites in it. */
export function beforeEach(body: Body): void {
  addHook("beforeEach", body);
}

/** Adds a hook that runs after each case of the suite and of the suites in it, also when the case failed. */
export function afterEach(body: Body): void {
  addHook("afterEach", body);
}

export { after as afterAll, before as beforeAll };
