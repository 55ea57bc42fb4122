import type { Job, Replay } from "./job.ts";
import { FIXED_TICKS, TICKS_PER_INPUT_TOKEN, TICKS_PER_OUTPUT_TOKEN } from "./service_time.ts";
import { STAMPS_PER_MS, TICKS_PER_MS } from "./trace.ts";

/**
 * The replay as JSON lines: the options, then one object per job in file order. Instants are milliseconds after the first
 * arrival; `arrivalMs` has the four decimals of the trace, `grantedMs` and `releasedMs` the three of the clock. They are
 * quotients of whole numbers below 2^53 by a power of ten, so their shortest decimal text is exact on every runtime.
 */
export function jobLines({ trace, limits }: Replay, jobs: readonly Job[]): string {
  const options = {
    trace: trace.name,
    tpm: limits.tpm,
    rpm: limits.rpm,
    http: limits.http,
    db: limits.db,
    service: {
      fixedMs: FIXED_TICKS / TICKS_PER_MS,
      msPerInputToken: TICKS_PER_INPUT_TOKEN / TICKS_PER_MS,
      msPerOutputToken: TICKS_PER_OUTPUT_TOKEN / TICKS_PER_MS,
    },
  };
  const texts = [JSON.stringify(options)];
  jobs.forEach((job, index) => {
    const arrivalMs = (trace.rows[index]?.arrivalStamps ?? 0) / STAMPS_PER_MS;
    texts.push(JSON.stringify({
      arrivalMs,
      grantedMs: toMs(job.grantedTicks),
      releasedMs: toMs(job.releasedTicks),
      tokens: job.tokens,
      refused: job.refused,
      waits: Object.fromEntries(job.waits),
    }));
  });
  return `${texts.join("\n")}\n`;
}

function toMs(ticks: number | null): number | null {
  return ticks === null ? null : ticks / TICKS_PER_MS;
}
