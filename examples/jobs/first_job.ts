import {
  Admission,
  callCost,
  callUpstream,
  Cost,
  CostLedger,
  CountingDBResourceProvider,
  createJobContext,
  JobRequirements,
  JobRunner,
  ModelBinding,
  SpendGates,
} from "../../mod.ts";

const gpt = {
  id: "gpt",
  tpm: 90_000,
  maxContextTokens: 128_000,
  maxOutputTokens: 16_000,
  prices: { currency: "USD", inputPerMillion: 2, outputPerMillion: 10 },
};
const orders = new CountingDBResourceProvider("orders", 2); // Jobs may use two connections of the host's pool.
const ledger = new CostLedger();
ledger.cap("nightly", new Cost("0.05", "USD"));
const runner = new JobRunner(new Admission().start(), { spendGates: new SpendGates().register(ledger) });

/** Stands for a request to the provider. It would be given the signal. */
function ask(question: string, _signal: AbortSignal) {
  const usage = { inputTokens: 900, outputTokens: 150 };
  return Promise.resolve({ text: `a summary of ${question}`, usage });
}

function summarize(order: number): Promise<string> {
  const call = new ModelBinding({ model: gpt, depth: "IMMEDIATE", input: 1_000, output: 1_000 });
  // One demand: 2,000 tokens of gpt, a place in the HTTP pool, a connection. All at once, or the job waits and holds none.
  const needs = new JobRequirements({ timeoutMs: 60_000 }).model(call).database(orders, { readOnly: true });
  return runner.run(needs, async (scope) => {
    const { text, usage } = await callUpstream(
      scope.account(call),
      () => ask(`order ${order}`, scope.signal),
    );
    scope.settle(call, usage.inputTokens + usage.outputTokens); // What was not used is there again at once.
    scope.recordCost(callCost(gpt, usage));
    return text;
  }, { context: createJobContext({ metadata: { workflow: "nightly" } }) });
}

// Each job may cost 0.012 USD, so the ledger lets four start at once. The fifth is refused before it holds anything.
for (const outcome of await Promise.allSettled([1, 2, 3, 4, 5].map(summarize))) {
  console.log(outcome.status === "fulfilled" ? outcome.value : outcome.reason.message);
}
console.log(`spent ${ledger.spent("nightly", "USD")}, connections in use: ${orders.admission.currentInUse}`);
