import process from "node:process";
import { Hono, type MiddlewareHandler } from "hono";
import { admit } from "../../adapters/hono.ts";
import { Admission, CountingGate, Demand, ElasticWindowRateLimiter } from "../../mod.ts";
import { loadPeer } from "../peers.ts";
import { median } from "../statistics.ts";
import { laterTurn } from "../timing.ts";
import { type Contender, type Effort, NO_SIZE, type Workload } from "../workload.ts";

/** What a limit costs the server of a Hono app. */
export const hono: Workload = {
  name: "hono",
  question: "What does the middleware add to a request of a Hono app?",
  method:
    "The processor's time of a request that is granted at once, `app.fetch` to `c.text` within the process, less that of " +
    "the same app with an empty middleware: batches of both take turns, and the median difference counts, from 0. " +
    "hono-rate-limiter is used as its README says, with one key; " +
    "it tells its limit with every response unless it is told not to, Sluice when it is told to.",
  units: { added: "us" },
  sizes: NO_SIZE,
  contenders: {
    "sluice": added(() => admitting(new Demand().add(new CountingGate("requests", 64)))),
    "sluice, window": added(() => admitting(windowDemand())),
    "sluice, window, limits told": added(() => admitting(windowDemand(), true)),
    "hono-rate-limiter": added(() => rateLimiting()),
    "hono-rate-limiter, limits not told": added(() => rateLimiting(false)),
  },
};

/** More than are served in a window, so that nobody is ever refused. */
const PLENTY = 2 ** 22;
const WINDOW_MS = 1_000;

/** Engines are done with an app after some ten thousand requests, however long these take on a crowded machine. */
const WARM_UP_PER_MS = 200;
const WARM_UP_BATCH = 100;

function windowDemand(): Demand {
  const options = { maxRequests: PLENTY, baseWindowMs: WINDOW_MS };
  return new Demand().add(new ElasticWindowRateLimiter("requests", options));
}

function admitting(demand: Demand, headersOnSuccess = false): MiddlewareHandler {
  return admit({ demand, admission: new Admission({ memory: null }).start(), headersOnSuccess });
}

async function rateLimiting(standardHeaders?: false): Promise<MiddlewareHandler> {
  const { rateLimiter } = await loadPeer<{ rateLimiter: (options: object) => MiddlewareHandler }>(
    "hono-rate-limiter",
  );
  const options = { windowMs: WINDOW_MS, limit: PLENTY, keyGenerator: () => "everybody" };
  return rateLimiter(standardHeaders === undefined ? options : { ...options, standardHeaders });
}

function added(open: () => MiddlewareHandler | Promise<MiddlewareHandler>): Contender {
  return async (effort) => {
    const limited = appWith(await open());
    const bare = appWith((_, next) => next());
    const count = await countFor([limited, bare], effort);
    const differences: number[] = [];
    for (const startMs = performance.now(); performance.now() - startMs < 2 * effort.measureMs;) {
      const own = await cpuUsOf(limited, count);
      differences.push(own - await cpuUsOf(bare, count));
    }
    return { added: Math.max(0, median(differences)) };
  };
}

function appWith(middleware: MiddlewareHandler): Hono {
  const app = new Hono();
  app.use(middleware);
  app.get("/", (c) => c.text("in"));
  return app;
}

/** Warms both up, and finds how many requests fill a tenth of the effort's time. */
async function countFor(apps: readonly Hono[], { measureMs }: Effort): Promise<number> {
  for (let served = 0; served < WARM_UP_PER_MS * measureMs; served += WARM_UP_BATCH) {
    for (const app of apps) await cpuUsOf(app, WARM_UP_BATCH);
  }
  let count = 1;
  for (let ms = 0; ms < measureMs / 10;) {
    count *= 2;
    const startMs = performance.now();
    await cpuUsOf(apps[0]!, count);
    ms = performance.now() - startMs;
  }
  return count;
}

/** The processor's time for each of so many requests, all threads together. */
async function cpuUsOf(app: Hono, count: number): Promise<number> {
  await laterTurn();
  const before = process.cpuUsage();
  for (let i = 0; i < count; i++) {
    const response = await app.fetch(new Request("http://localhost/"));
    if (response.status !== 200) throw new Error(`a request was answered with ${response.status}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}
