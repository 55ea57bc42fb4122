import process from "node:process";
import { laterTurn } from "./timing.ts";

/** The parts of the runtimes that a reading of the heap needs. */
interface Runtime {
  readonly gc?: () => void;
  readonly Deno?: { memoryUsage(): { heapUsed: number } };
  readonly Bun?: { gc(isSynchronous: boolean): void };
}

/**
 * Bytes of live objects on the heap, after a collection. On Deno it needs `--v8-flags=--expose-gc`. What an engine keeps
 * outside of its heap, such as the kernel's linear memory, is not in it.
 */
export async function liveHeapBytes(): Promise<number> {
  const runtime = globalThis as Runtime;
  if (process.versions["bun"] !== undefined) {
    // V8's heap statistics take Bun milliseconds and name a limit that is none; JavaScriptCore has its own.
    const module = "bun:jsc";
    const { heapStats } = await import(module) as { heapStats(): { heapSize: number } };
    await laterTurn();
    runtime.Bun!.gc(true);
    runtime.Bun!.gc(true);
    return heapStats().heapSize;
  }
  await laterTurn();
  runtime.gc!();
  runtime.gc!();
  return runtime.Deno!.memoryUsage().heapUsed;
}
