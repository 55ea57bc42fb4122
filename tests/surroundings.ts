// What all files of one process share, so that one which changes it for the others can be told.

import process from "node:process";

/** Values that tests replace, as paths from the global object. */
const VALUES = `
  AbortController AbortSignal AbortSignal.any AbortSignal.timeout Bun.gc Date Date.now Deno.memoryUsage Deno.serve
  Error.stackTraceLimit FinalizationRegistry Headers Math.random Promise Request Response WeakRef WebAssembly
  WebAssembly.Instance WebAssembly.Memory WebAssembly.Module WebSocket clearInterval clearTimeout console console.debug
  console.error console.info console.log console.warn crypto crypto.randomUUID fetch gc navigator performance
  performance.now queueMicrotask setImmediate setInterval setTimeout`.trim().split(/\s+/);

/** Events of the process that tests listen to. */
const EVENTS = ["SIGHUP", "SIGINT", "SIGTERM", "uncaughtException", "unhandledRejection", "warning"];

function valueAt(path: string): unknown {
  return path.split(".").reduce<unknown>(
    (at, name) => at === null || at === undefined ? undefined : Reflect.get(Object(at), name),
    globalThis,
  );
}

function look(): Map<string, unknown> {
  return new Map<string, unknown>([
    ...VALUES.map((path) => [path, valueAt(path)] as const),
    ...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value] as const),
    ...EVENTS.map((name) => [`the listeners to ${name}`, process.listenerCount(name)] as const),
    ["process.cwd()", process.cwd()],
    ["process.exit", process.exit],
    ["process.exitCode", process.exitCode],
    ["process.memoryUsage", process.memoryUsage],
  ]);
}

/** What a process has at one moment. */
export class Surroundings {
  #seen = look();

  /** Throws when something is other than it was the last time, naming it and the file that was at work. */
  mustBeSame(file: string): void {
    const before = this.#seen;
    this.#seen = look();
    const names = [...new Set([...before.keys(), ...this.#seen.keys()])];
    const changed = names.filter((name) => !Object.is(before.get(name), this.#seen.get(name)));
    if (changed.length === 0) return;
    throw new Error(
      `${file} leaves ${changed.join(", ")} other than before: put it back, or let the file run alone.`,
    );
  }
}
