/** The ten rules of admission that are most easily got wrong, each with the faults that break it. */
import { FAULTS, TAKES_DECLINED } from "./faults.ts";
import { DEADLINES, MEMORY_SHORT, RESERVATION } from "./line.ts";
import { COMPLETIONS, PENALTIES } from "./memory_gate.ts";
import type { HardRule } from "./mutant.ts";
import { EVENTS, PAST_DEADLINES, RACES } from "./telling.ts";

/** In the order in which the specification of admission lists them. */
export const HARD_RULES: readonly HardRule[] = [
  {
    number: 1,
    says: "The head's whole amount is set aside on every key it names, and only the head's.",
    ids: ["MON-18", "MON-19", "MON-21"],
    mutants: RESERVATION,
  },
  {
    number: 2,
    says: "Behind a memory-short head memory is not even asked; the follower copies the head's deadline.",
    ids: ["MON-36", "WAK-06"],
    mutants: MEMORY_SHORT,
  },
  {
    number: 3,
    says: "Every entry is asked; the deadline is the latest of the short ones, null if any is null.",
    ids: ["MON-05", "MON-06", "WAK-06"],
    mutants: DEADLINES,
  },
  {
    number: 4,
    says: "A declined take undoes silently, marks only that account, and uses that account's deadline alone.",
    ids: ["MON-31"],
    mutants: TAKES_DECLINED,
  },
  {
    number: 5,
    says: "Grant events in demand order, counts lowered first, memory last; one REJECTED from who refuses.",
    ids: ["EVT-11", "EVT-12", "EVT-15"],
    mutants: EVENTS,
  },
  {
    number: 6,
    says: "A throwing give means three different things: in a pass, inline, at settlement.",
    ids: ["FLT-08", "FLT-11", "FLT-14", "BEY-03"],
    mutants: FAULTS,
  },
  {
    number: 7,
    says: "The penalty measures against the release before the last, and is committed only at a release.",
    ids: ["MEM-13", "MEM-14", "MEM-23"],
    mutants: PENALTIES,
  },
  {
    number: 8,
    says: "The completion flag does not add up, survives the latch, and is invisible to earliestFit.",
    ids: ["MEM-29", "MEM-31", "MEM-38"],
    mutants: COMPLETIONS,
  },
  {
    number: 9,
    says: 'A past deadline is an immediate pass, never "no deadline".',
    ids: ["WAK-08", "WAK-13", "MEM-37"],
    mutants: PAST_DEADLINES,
  },
  {
    number: 10,
    says: "A grant seen first wins, an abort seen first undoes it; waits count from the first refusal.",
    ids: ["CAN-02", "CAN-03", "ATT-02", "ATT-05"],
    mutants: RACES,
  },
];
