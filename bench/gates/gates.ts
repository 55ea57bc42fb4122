import { asyncMutex } from "./async_mutex.ts";
import { asyncSema } from "./async_sema.ts";
import { bottleneck } from "./bottleneck.ts";
import { cockatiel } from "./cockatiel.ts";
import { effect } from "./effect.ts";
import type { GateMaker } from "./gate.ts";
import { pLimit } from "./p_limit.ts";
import { pQueue } from "./p_queue.ts";
import { plain } from "./plain.ts";
import { rulesAlone } from "./rules_alone.ts";
import { sluice } from "./sluice.ts";

/** Who can hand one place from job to job, by the name in the contender column. */
export const GATES: Readonly<Record<string, GateMaker>> = {
  "sluice": sluice,
  "plain": plain,
  "rules alone": rulesAlone,
  "async-sema": asyncSema,
  "async-mutex": asyncMutex,
  "p-limit": pLimit,
  "p-queue": pQueue,
  "cockatiel": cockatiel,
  "effect": effect,
  "bottleneck": bottleneck,
};

/** Who cannot, and why. */
export const NO_GATES: Readonly<Record<string, { readonly cannot: string }>> = {
  "limiter": { cannot: "counts what comes back by the clock, not what is given back" },
  "rate-limiter-flexible": { cannot: "counts what comes back by the clock, not what is given back" },
  "p-throttle": { cannot: "counts starts per interval, not jobs at work" },
};
