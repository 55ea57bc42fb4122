import {
  Admission,
  Demand,
  ElasticWindowRateLimiter,
  health,
  type LimiterIdentity,
  UpstreamFailure,
} from "../../mod.ts";

/** What is wrong now, a line each; nothing when all is well. Look every few seconds: it costs an attempt for each waiter. */
function alarms(admission: Admission, accounts: readonly LimiterIdentity[]): string[] {
  const found: string[] = [];
  const oldestMs = admission.waiters()[0]?.waitedMs ?? 0;
  if (oldestMs > 5_000) found.push(`the oldest waiter waits for ${Math.round(oldestMs)} ms`);
  if (admission.queueSize > 500) found.push(`${admission.queueSize} wait`);
  for (const { isOverdue, accounts, admittedAt } of admission.grants()) {
    if (isOverdue) found.push(`a grant on ${accounts} is held too long, admitted at ${admittedAt}`);
  }
  for (const { name, indicator, fault } of health(accounts)) {
    if (fault !== null) found.push(`${name} cannot be read: ${fault}`);
    if (indicator !== null) found.push(`${name}: ${indicator}`);
  }
  return found;
}

const search = new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: 1_000 });
const admission = new Admission({ maxQueue: 1_000 }).start();
await admission.run(new Demand().add(search), () => "fine", { maxHoldMs: 60_000 });
console.log(alarms(admission, [search]));
search.onRateLimitError(new UpstreamFailure({ statusCode: 503 }));
console.log(alarms(admission, [search]));
