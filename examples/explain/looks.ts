import type { Admission, Demand, Explanation } from "../../mod.ts";

/** A job of a scenario, as long as it may still be in line. */
export interface Caller {
  readonly name: string;
  readonly demand: Demand;
}

/** What one caller is told when it is asked about. */
export interface Look {
  readonly name: string;
  readonly told: Explanation;
  /** What becomes of it by this answer. */
  readonly verdict: "granted" | "refused" | "waits";
}

/** From the head of the line down to the first who leaves: what one walk of a pass finds. */
export type Walk = readonly Look[];

/**
 * Asks about everybody in line, oldest first, and stops at the first who leaves: behind a departure the pass looks again from
 * the head. The head is asked with nothing set aside, so an Admission over the same accounts that has no line answers for it.
 */
export function lookAtLine(
  line: readonly Caller[],
  admissions: { readonly own: Admission; readonly without: Admission },
): Walk {
  const looks: Look[] = [];
  for (const [place, { name, demand }] of line.entries()) {
    const told = (place === 0 ? admissions.without : admissions.own).explain(demand);
    const verdict = verdictOf(told);
    looks.push({ name, told, verdict });
    if (verdict !== "waits") break;
  }
  return looks;
}

function verdictOf({ fits, accounts }: Explanation): Look["verdict"] {
  if (accounts.some((view) => view.refusal !== null)) return "refused";
  return fits ? "granted" : "waits";
}
