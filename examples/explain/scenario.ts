import type { Stage } from "./stage.ts";

/** A small story that a Stage can play. */
export interface Scenario {
  /** What one types to see it. */
  readonly name: string;
  /** What it shows, in a line. */
  readonly title: string;
  play(stage: Stage): Promise<void>;
}
