import process from "node:process";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { SqliteResourceProvider, withDatabase } from "../../adapters/drizzle/mod.ts";
import { countedTokens } from "../../adapters/fetch.ts";
import {
  Admission,
  callCost,
  callUpstream,
  callUsage,
  CancellationError,
  checkedResponse,
  Cost,
  CostLedger,
  createJobContext,
  HttpConnectionGate,
  JobRequirements,
  JobRunner,
  ModelBinding,
  reservationCost,
  SpendCapError,
  SpendGates,
} from "../../mod.ts";

const claude = {
  id: "claude-haiku-4-5",
  tpm: 400_000,
  rpm: 1_000,
  maxContextTokens: 200_000,
  maxOutputTokens: 64_000,
  prices: { currency: "USD", inputPerMillion: 1, outputPerMillion: 5, cacheReadFactor: 0.1 },
};
const summaries = sqliteTable("summaries", { report: integer("report").primaryKey(), text: text("text") });
const db = new SqliteResourceProvider("summaries", {
  file: ":memory:",
  maxConcurrent: 2,
  schema: { summaries },
  setUp: "CREATE TABLE IF NOT EXISTS summaries (report INTEGER PRIMARY KEY, text TEXT)",
});

const ledger = new CostLedger({ workflowOf: () => "summaries", beyond: "wait" });
ledger.cap("summaries", new Cost("0.05", "USD")); // Fourteen reservations at a time. Calls cost a sixth of that.
const http = new HttpConnectionGate(4);
const calls = new Admission().start();
const writes = new Admission().start(); // One of its own: what was paid for is stored also when calls are stopped.
const runner = new JobRunner(calls, {
  http,
  spendGates: new SpendGates().register(ledger),
  pauseMs: () => 20, // Left out, a pause is drawn from 5 to 30 s, and longer each time.
  logger: console, // Hears of each retry.
});
process.once("SIGINT", () => calls.stop()); // Ctrl-C: calls that are under way end, nobody else begins.

/** Stands for fetch, and for a provider that is asked too early now and then. */
async function send(_url: string, _init: RequestInit): Promise<Response> {
  const isTooEarly = ++requests % 9 === 0;
  await new Promise((done) => setTimeout(done, 30));
  if (isTooEarly) {
    const error = { type: "rate_limit_error", message: "too early" };
    return Response.json({ type: "error", error }, { status: 429 });
  }
  const usage = { input_tokens: 180, cache_read_input_tokens: 700, output_tokens: 60 };
  return Response.json({ content: [{ type: "text", text: "All is well." }], usage });
}
let requests = 0;

async function summarize(report: number): Promise<void> {
  const call = new ModelBinding({ model: claude, depth: "IMMEDIATE", input: 1_000, output: 500 });
  const needs = new JobRequirements({ timeoutMs: 60_000 }).model(call);
  const summary = await runner.run(needs, async (scope) => {
    const answer = await callUpstream(scope.account(call), async () => {
      const content = `Summarize report ${report}.`;
      const response = await send("https://api.anthropic.com/v1/messages", {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": "YOUR_KEY" },
        body: JSON.stringify({
          model: claude.id,
          max_tokens: call.reservation.output,
          messages: [{ role: "user", content }],
        }),
        signal: scope.signal,
      });
      const answered = await checkedResponse(response, { provider: "anthropic" });
      try {
        return await answered.json();
      } catch (error) {
        scope.recordCost(reservationCost(call)); // It was answered, and the usage went with the rest of the body.
        throw error;
      }
    });
    const usage = callUsage("anthropic", answer.usage);
    scope.recordCost(usage === null ? reservationCost(call) : callCost(claude, usage));
    scope.settle(call, countedTokens("anthropic", answer.usage)); // The rest is there again at once.
    return answer.content[0].text;
  }, { context: createJobContext({ id: `report ${report}` }) });
  // A second demand, after the first was given back: no connection waits for a model.
  await withDatabase(writes, db, async (tx) => {
    await tx.insert(summaries).values({ report, text: summary });
  });
}

/**
 * A job that was to be run again and was refused for what unfinished ones may spend, itself included, is given in again: then it
 * waits. As it may retry anew each time, not for ever.
 */
async function withinCap(job: () => Promise<void>): Promise<void> {
  for (let again = 3;; again--) {
    try {
      return await job();
    } catch (error) {
      if (!(error instanceof SpendCapError) || error.isFinal || again === 0) throw error;
    }
  }
}

const reports = Array.from({ length: 60 }, (_, index) => index + 1);
const ends = await Promise.allSettled(reports.map((report) => withinCap(() => summarize(report))));
let left = 0;
for (const end of ends) {
  if (end.status === "rejected" && end.reason instanceof CancellationError) left++; // For the next time.
  else if (end.status === "rejected") console.error(end.reason);
}
if (left > 0) process.exitCode = 130; // As a shell says of Ctrl-C.
const stored = await withDatabase(writes, db, (tx) => tx.select().from(summaries), { readOnly: true });
console.log(`${stored.length} stored, ${left} left, spent ${ledger.spent("summaries", "USD")}`);
console.log(
  `held: ${http.currentInUse} places, ${db.connectionsOut} connections, ${runner.pausedJobs} pauses`,
);
db.end();
