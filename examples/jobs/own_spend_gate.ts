import {
  Admission,
  Cost,
  JobRequirements,
  JobRunner,
  ModelBinding,
  outputBudget,
  reservationCost,
  SpendCapError,
  type SpendGate,
  SpendGates,
  thinkingBudget,
} from "../../mod.ts";

const thinker = {
  id: "thinker",
  tpm: 400_000,
  maxContextTokens: 200_000,
  maxOutputTokens: 32_000,
  thinkingMode: "EXTENDED",
  prices: { currency: "USD", inputPerMillion: 3, outputPerMillion: 15 },
} as const;

/** No job may cost more than half a dollar, by what it reserves. */
const halfADollar: SpendGate = {
  check(_context, bindings) {
    const cap = new Cost("0.50", "USD");
    let asked = new Cost(0, "USD");
    for (const binding of bindings) asked = asked.plus(reservationCost(binding) ?? new Cost(0, "USD"));
    if (asked.exceeds(cap)) {
      throw new SpendCapError(`The job may cost ${asked}, at most ${cap} is allowed`, { cap, asked });
    }
  },
};
const spendGates = new SpendGates().register(halfADollar);
const runner = new JobRunner(new Admission().start(), { spendGates });

/** What a request says of its length, from the same numbers that were reserved. */
function think(input: number) {
  const call = new ModelBinding({ model: thinker, depth: "THOROUGH", input, output: "COMPACT" });
  return runner.run(new JobRequirements({ timeoutMs: 60_000 }).model(call), () => ({
    max_tokens: call.reservation.output,
    thinking: { type: "enabled", budget_tokens: thinkingBudget(call.model, "THOROUGH") },
    answer: outputBudget(call.model, "COMPACT"),
  }));
}

console.log(await think(5_000));
console.log(await think(150_000).catch((error: Error) => error.message));
