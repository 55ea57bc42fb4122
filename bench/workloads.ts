import type { Workload } from "./workload.ts";
import { eventBucket } from "./workloads/event_bucket.ts";
import { eventGate } from "./workloads/event_gate.ts";
import { eventClasses, eventSystem, passLast } from "./workloads/event_many.ts";
import { floor } from "./workloads/floor.ts";
import { hono } from "./workloads/hono.ts";
import { httpOnly } from "./workloads/http_only.ts";
import { abort, drain } from "./workloads/lines.ts";
import { memory, memorySignal } from "./workloads/memory.ts";
import { awaitOne, awaitOneMemory, tryOne } from "./workloads/pairs.ts";
import { stream } from "./workloads/stream.ts";
import { awaitThree } from "./workloads/three.ts";

/** All there is to measure, in the order in which it is told. */
export const WORKLOADS: readonly Workload[] = [
  floor,
  tryOne,
  awaitOne,
  awaitOneMemory,
  awaitThree,
  drain,
  eventGate,
  eventBucket,
  eventSystem,
  eventClasses,
  passLast,
  abort,
  memory,
  memorySignal,
  stream,
  httpOnly,
  hono,
];
