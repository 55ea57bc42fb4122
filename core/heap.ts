import { kernelMemoryBytes } from "./kernel.ts";

/** The heap at one moment. */
export interface HeapReading {
  readonly usedBytes: number;
  /** What the process may use at most. */
  readonly limitBytes: number;
  /** Used over limit, where it is known better than by dividing. */
  readonly ratio?: number;
}

/** Reads the heap. What it throws counts as no reading. */
export type HeapReader = () => HeapReading;

/** As much of a runtime's globals as a reader needs. */
export interface RuntimeGlobals {
  readonly process?: RuntimeProcess | undefined;
  readonly navigator?: { readonly userAgent?: string } | undefined;
}

/** As much of `process` as a reader needs. */
export interface RuntimeProcess {
  readonly versions?: { readonly bun?: string | undefined; readonly deno?: string | undefined } | undefined;
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly memoryUsage?: { rss?(): number } | undefined;
  constrainedMemory?(): number;
  getBuiltinModule?(id: string): unknown;
}

const MEGABYTE = 2 ** 20;

interface HeapStatistics {
  readonly used_heap_size: number;
  readonly heap_size_limit: number;
}

/**
 * The heap reader of this runtime, or null where there is none.
 *
 * - Node (20.16 or later) and Deno: V8's heap in use and the kernel's own memory, over V8's limit. No permission is needed.
 *   A reading costs 0.3 to 0.5 us. V8's limit includes its young generation, 48 MB on Node 20 and 96 MB on Deno 2.9, but a
 *   process ends when the old one is full. On Node a limit that was set by flag is read from there; on Deno flags cannot be
 *   seen, so with `--max-old-space-size` below 2 GB give `limitBytes` (docs/decisions/0021).
 * - Bun: resident memory over what the process is constrained to, 7.5 us. Without a limit of its container there is no reader,
 *   unless `limitBytes` is given. Bun's own heap statistics walk the heap (12 ms with 600,000 objects) and are never used.
 * - Workers, other edge runtimes and browsers: none.
 *
 * @param limitBytes stands for the runtime's own limit; null for that one.
 */
export function runtimeHeapReader(
  limitBytes: number | null,
  globals: RuntimeGlobals = globalThis as RuntimeGlobals,
): HeapReader | null {
  const { process, navigator } = globals;
  // Workers have a `process` in Node's clothes, with numbers that are not this isolate's.
  if (process === undefined || navigator?.userAgent === "Cloudflare-Workers") return null;
  return process.versions?.bun !== undefined
    ? residentReader(process, limitBytes)
    : v8Reader(process, limitBytes);
}

function residentReader(process: RuntimeProcess, limitBytes: number | null): HeapReader | null {
  const limit = limitBytes ?? realLimit(process.constrainedMemory?.(), totalMemory(process));
  const { memoryUsage } = process;
  if (limit === null || typeof memoryUsage?.rss !== "function") return null;
  return () => ({ usedBytes: memoryUsage.rss!(), limitBytes: limit });
}

/**
 * A limit that is one, else null. "Unlimited" is spelled 2^64 (Node), 9.2e18 (Deno) or the machine's memory (Bun): whatever
 * reaches that is no limit.
 */
export function realLimit(constrained: number | undefined, totalBytes: number): number | null {
  if (constrained === undefined || !(constrained > 0) || constrained >= totalBytes) return null;
  return constrained;
}

function totalMemory(process: RuntimeProcess): number {
  const os = process.getBuiltinModule?.("node:os") as { totalmem?(): number } | undefined;
  return os?.totalmem?.() ?? 0;
}

function v8Reader(process: RuntimeProcess, limitBytes: number | null): HeapReader | null {
  const statistics = heapStatistics(process);
  if (statistics === null) return null;
  const oldSpace = oldSpaceBytes(process);
  return () => {
    const { used_heap_size, heap_size_limit } = statistics();
    return {
      usedBytes: used_heap_size + kernelMemoryBytes(),
      limitBytes: limitBytes ?? Math.min(heap_size_limit, oldSpace),
    };
  };
}

/** What `--max-old-space-size` says, in bytes; Infinity without it. Deno shows no flags, and its `env` may ask its user. */
function oldSpaceBytes(process: RuntimeProcess): number {
  if (process.versions?.deno !== undefined) return Infinity;
  const flags = [process.env?.["NODE_OPTIONS"] ?? "", ...process.execArgv ?? []].join(" ");
  const sizes = [...flags.matchAll(/--max[-_]old[-_]space[-_]size=(\d+)/g)];
  const megabytes = Number(sizes.at(-1)?.[1] ?? 0);
  return megabytes > 0 ? megabytes * MEGABYTE : Infinity;
}

/** V8's statistics where they can be had: other runtimes have the function and throw, or answer nothing. */
function heapStatistics(process: RuntimeProcess): (() => HeapStatistics) | null {
  try {
    const v8 = process.getBuiltinModule?.("node:v8") as { getHeapStatistics?(): HeapStatistics } | undefined;
    const statistics = v8?.getHeapStatistics?.();
    if (!(statistics !== undefined && statistics.heap_size_limit > 0)) return null;
    return () => v8!.getHeapStatistics!();
  } catch {
    return null;
  }
}
