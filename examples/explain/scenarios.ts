import { hostage } from "./scenarios/hostage.ts";
import { meter } from "./scenarios/meter.ts";
import { refusal } from "./scenarios/refusal.ts";
import type { Scenario } from "./scenario.ts";

/** Every scenario, the first of which is shown unless another is named. */
export const SCENARIOS: readonly Scenario[] = [hostage, meter, refusal];
