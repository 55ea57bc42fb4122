import { type Figure, isGain } from "./figures.ts";
import type { Runtime } from "./options.ts";

/** What is measured beside us to read our figures by, and is no library. */
export const YARDSTICKS: ReadonlySet<string> = new Set([
  "plain",
  "rules alone",
  "bare signal",
  "bare timers",
]);
/** Of these, who keep what our rules ask or what a runtime cannot do for less: what a figure of ours is read by. */
const FLOORS: readonly string[] = ["rules alone", "bare timers"];

/** Whether a contender is Sluice, in one way of using it or another. */
export function isOurs(contender: string): boolean {
  return contender === "sluice" || contender.startsWith("sluice, ");
}

function isPeer(contender: string): boolean {
  return !isOurs(contender) && !YARDSTICKS.has(contender);
}

/** Figures of one runtime, to be asked for. */
export class Lookup {
  readonly #figures: readonly Figure[];

  constructor(figures: readonly Figure[], runtime: Runtime) {
    this.#figures = figures.filter((figure) => figure.runtime === runtime);
  }

  /** The median, or null where it was not measured. */
  of(workload: string, metric: string, contender = "sluice"): number | null {
    const found = this.#figures.find((figure) =>
      figure.workload === workload && figure.metric === metric && figure.contender === contender
    );
    return found?.median ?? null;
  }

  /** The best peer's figure and name, or null without a peer. */
  bestPeer(workload: string, metric: string): Figure | null {
    const peers = this.#figures.filter((figure) =>
      figure.workload === workload && figure.metric === metric && isPeer(figure.contender)
    );
    if (peers.length === 0) return null;
    return peers.reduce((best, peer) => isBetter(peer, best) ? peer : best);
  }
}

function isBetter(one: Figure, other: Figure): boolean {
  return isGain(one.unit) ? one.median > other.median : one.median < other.median;
}

/** What a figure of ours must keep to. */
export interface Bar {
  readonly what: string;
  readonly workload: string;
  readonly metric: string;
  readonly unit: string;
  /** In words. */
  readonly rule: string;
  /** The limit in this run; null where what it refers to was not measured. */
  limit(figures: Lookup): number | null;
}

/** A bar, measured. */
export interface Verdict {
  readonly bar: Bar;
  readonly runtime: Runtime;
  /** NaN where our own run failed: then the bar is not met. */
  readonly figure: number;
  readonly limit: number;
  readonly isMet: boolean;
  /** What a yardstick cost in this run that does the same with next to nothing; null where there is none. */
  readonly floor: number | null;
}

/** Who of ours failed, by runtime and workload. */
export type Failed = ReadonlySet<string>;

/** Every bar for which this run has the figures, or for which our own run failed. */
export function judge(
  figures: readonly Figure[],
  runtimes: readonly Runtime[],
  failed: Failed = new Set(),
): Verdict[] {
  return runtimes.flatMap((runtime) => {
    const lookup = new Lookup(figures, runtime);
    return BARS.flatMap((bar): Verdict[] => {
      const figure = lookup.of(bar.workload, bar.metric);
      const limit = bar.limit(lookup);
      if (figure === null && failed.has(`${runtime} ${bar.workload}`)) {
        return [{ bar, runtime, figure: NaN, limit: limit ?? NaN, isMet: false, floor: null }];
      }
      if (figure === null || limit === null) return [];
      const isMet = isGain(bar.unit) ? figure >= limit : figure <= limit;
      const floor = FLOORS.map((name) =>
        lookup.of(bar.workload, bar.metric, name)
      ).find((each) => each !== null) ??
        null;
      return [{ bar, runtime, figure, limit, isMet, floor }];
    });
  });
}

type Subject = Pick<Bar, "what" | "workload" | "metric" | "unit">;

function constant(subject: Subject, limit: number, rule: string): Bar {
  return { ...subject, rule, limit: () => limit };
}

function timesBestPeer(subject: Subject, factor: number, rule: string): Bar {
  const limit = (figures: Lookup) => {
    const best = figures.bestPeer(subject.workload, subject.metric);
    return best === null ? null : factor * best.median;
  };
  return { ...subject, rule, limit };
}

function timesOwn(subject: Subject, factor: number, workload: string): Bar {
  const limit = (figures: Lookup) => {
    const own = figures.of(workload, subject.metric);
    return own === null ? null : factor * own;
  };
  return { ...subject, rule: `at most ${factor} times that at 1,000`, limit };
}

const ns = (what: string, workload: string, metric: string): Subject => ({
  what,
  workload,
  metric,
  unit: "ns",
});

/** Bytes: the sizes at which a quick and a full run measure differ, so there is a bar for each. */
function memoryBar(size: number): Bar {
  const subject = { what: "bytes of a waiter with a signal", metric: "whole", unit: "B" };
  return {
    ...subject,
    workload: `memory-signal/${size}`,
    rule: "at most the leanest peer's, with a signal or without",
    limit: (figures) => {
      const best = ["memory", "memory-signal"].flatMap((name) =>
        figures.bestPeer(`${name}/${size}`, "whole")?.median ?? []
      );
      return best.length === 0 ? null : Math.min(...best);
    },
  };
}

/** What Sluice wants to keep to, as ratios within one run wherever that is possible. */
const BARS: readonly Bar[] = [
  {
    ...ns("a free place, without a promise", "try-one", "pair"),
    rule: "at most 2 times the plain semaphore",
    limit: (figures) => {
      const plain = figures.of("try-one", "pair", "plain");
      return plain === null ? null : 2 * plain;
    },
  },
  timesBestPeer(ns("a free place", "await-one", "pair"), 1.75, "at most 1.75 times the fastest peer"),
  timesBestPeer(
    ns("a job with three limits", "await-three", "job"),
    1 / 3,
    "at most a third of the best stack",
  ),
  timesBestPeer(ns("each of 10,000 in a line", "drain/10000", "whole"), 1, "at most the fastest peer"),
  timesBestPeer(ns("each of 100,000 in a line", "drain/100000", "whole"), 1, "at most the fastest peer"),
  constant(ns("an event at a gate, 100,000 waiting", "event-gate/100000", "event"), 1_000, "under 1 us"),
  timesOwn(ns("an event at a gate, 1,000,000 waiting", "event-gate/1000000", "event"), 3, "event-gate/1000"),
  constant(
    ns("an event in the system, 1,000,000 waiting", "event-system/1000000", "event"),
    20_000,
    "under 20 us",
  ),
  timesOwn(
    ns("an event in the system, 1,000,000 waiting", "event-system/1000000", "event"),
    3,
    "event-system/1000",
  ),
  constant(ns("a pass over 10,000 that admits one", "pass-last/10000", "pass"), 50_000, "under 50 us"),
  memoryBar(10_000),
  memoryBar(50_000),
  timesBestPeer(ns("each of 10,000 aborts", "abort/10000", "abort"), 1, "at most the cheapest peer"),
  constant(
    { what: "rate of a metered stream", workload: "stream", metric: "rate", unit: "ratio" },
    0.999,
    "0.999 or more",
  ),
  timesBestPeer(
    { what: "lateness of a metered stream, p99", workload: "stream", metric: "late p99", unit: "ms" },
    1,
    "at most the best peer",
  ),
  timesBestPeer(
    { what: "processor time of a metered stream, per job", workload: "stream", metric: "cpu", unit: "us" },
    1,
    "at most the best peer",
  ),
  constant(
    { what: "HTTP-only jobs beside a dry bucket", workload: "http-only", metric: "kept", unit: "ratio" },
    0.95,
    "0.95 or more",
  ),
  {
    ...{ what: "Hono middleware, server CPU per request", workload: "hono", metric: "added", unit: "us" },
    rule: "less added than hono-rate-limiter",
    limit: (figures) => figures.of("hono", "added", "hono-rate-limiter"),
  },
];
