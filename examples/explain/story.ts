import type { LimiterEvent, WaiterView } from "../../mod.ts";
import type { Walk } from "./looks.ts";

/** What the sink heard of one job in one go, and how its caller failed, if it did. */
export interface Told {
  readonly job: string;
  readonly events: LimiterEvent[];
  error: Error | null;
}

/** What a pass is about to find (`walk`), what it would find if one came (`seen`), or what became of a job (`told`). */
export type Note = { readonly walk: Walk } | { readonly seen: Walk } | { readonly told: Told };

/** What one verb, or one timer, set off. */
export interface Step {
  readonly number: number;
  /** On the scenario's clock. */
  readonly atMs: number;
  readonly title: string;
  /** In the order in which they came about. */
  readonly notes: readonly Note[];
  /** Everybody in line afterwards, oldest first. */
  readonly waiters: readonly WaiterView[];
  /** The instant at which admission looks by itself, or null when only an event makes it look. */
  readonly nextLookMs: number | null;
}

/** An account of a scenario, as it was before the first step. */
export interface Opened {
  readonly name: string;
  readonly category: string;
  readonly summary: string;
}

/** Everything that a scenario has to tell. */
export interface Story {
  readonly accounts: readonly Opened[];
  readonly steps: readonly Step[];
}
