import { type Random, seededRandom } from "./random.ts";
import { STAMPS_PER_MS, type Trace, type TraceRow } from "./trace.ts";

/** Requests in a generated trace. */
export const GENERATED_REQUESTS = 3_000;

/**
 * Makes the traffic of a bad quarter of an hour: a steady stream of chats, and again and again an agent that fans out
 * into a hundred or more calls with long prompts within a few seconds, more than the quota has. Two requests are larger than the
 * default quota, and must be refused. The same seed makes the same trace on every runtime: only + - * / and sqrt are used.
 */
export function generateTrace(seed: number): Trace {
  const random = seededRandom(seed);
  const rows: TraceRow[] = [];
  let burstAtMs = 20_000;
  let chatAtMs = 0;
  while (rows.length < GENERATED_REQUESTS) {
    if (chatAtMs < burstAtMs) {
      rows.push(chat(random, chatAtMs));
      chatAtMs += spread(random, MEAN_CHAT_GAP_MS);
    } else {
      rows.push(...burst(random, burstAtMs));
      burstAtMs += BURST_EVERY_MS + spread(random, BURST_EVERY_MS);
    }
  }
  for (const share of [0.3, 0.7]) {
    const at = rows[Math.floor(GENERATED_REQUESTS * share)];
    if (at !== undefined) rows.push({ ...at, inputTokens: 900_000, outputTokens: 1_000 });
  }
  return { name: `generated traffic, seed ${seed}`, rows: fromZero(rows) };
}

const MEAN_CHAT_GAP_MS = 400;
const BURST_EVERY_MS = 60_000;

function chat(random: Random, atMs: number): TraceRow {
  return {
    arrivalStamps: Math.floor(atMs * STAMPS_PER_MS),
    inputTokens: heavyTailed(random, { median: 600, min: 10, max: 16_000 }),
    outputTokens: heavyTailed(random, { median: 110, min: 1, max: 1_000 }),
  };
}

function burst(random: Random, atMs: number): TraceRow[] {
  const count = 100 + Math.floor(random.next() * 80);
  const lengthMs = 1_000 + random.next() * 5_000;
  return Array.from({ length: count }, () => ({
    arrivalStamps: Math.floor((atMs + random.next() * lengthMs) * STAMPS_PER_MS),
    inputTokens: heavyTailed(random, { median: 4_000, min: 400, max: 32_000 }),
    outputTokens: heavyTailed(random, { median: 40, min: 1, max: 600 }),
  }));
}

/** Evenly spread around `mean`. */
function spread(random: Random, mean: number): number {
  return random.next() * 2 * mean;
}

/** A log-logistic draw of shape 2: mostly near the median, now and then many times as much. */
function heavyTailed(random: Random, range: { median: number; min: number; max: number }): number {
  const chance = random.next();
  const drawn = Math.floor(range.median * Math.sqrt(chance / (1 - chance)));
  return Math.min(range.max, Math.max(range.min, drawn));
}

/** In order of arrival, cut to the wanted number, the first one at 0. */
function fromZero(rows: readonly TraceRow[]): TraceRow[] {
  const sorted = [...rows].sort((a, b) => a.arrivalStamps - b.arrivalStamps).slice(0, GENERATED_REQUESTS);
  const first = sorted[0]?.arrivalStamps ?? 0;
  return sorted.map((row) => ({ ...row, arrivalStamps: row.arrivalStamps - first }));
}
