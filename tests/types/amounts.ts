/** An amount is of the type that its account takes, in demands and in the requirements of jobs. See same.ts. */
import {
  AbstractRateLimiter,
  CountingGate,
  Demand,
  type DemandEntry,
  EPORateLimiter,
  type Grant,
  JobRequirements,
  KeyedRateLimiter,
  PubMedRateLimiter,
  type RateLimiter,
  TokenBucketRateLimiter,
} from "../../mod.ts";
import { same } from "./same.ts";

/** What a page printer takes. */
interface Pages {
  readonly pages: number;
}

declare const printer: RateLimiter<Pages>;
declare const gate: CountingGate;
declare const bucket: TokenBucketRateLimiter;
declare const epo: EPORateLimiter;

/** Permits and slots are numbers that may be left out. */
export function units(demand: Demand): void {
  same<Demand, ReturnType<typeof demand.add>>(true);
  demand.add(gate).add(gate, 2).add(new PubMedRateLimiter());
  // @ts-expect-error a gate takes a number of permits
  demand.add(gate, "2");
  // @ts-expect-error a gate has no keys
  demand.add(gate, "tenant", 2);
}

/** Tokens have to be said, a routing key must be one. */
export function metered(demand: Demand): void {
  demand.add(bucket, 300).add(epo, "SEARCH");
  // @ts-expect-error how many tokens?
  demand.add(bucket);
  // @ts-expect-error tokens are a number
  demand.add(bucket, 300n);
  // @ts-expect-error no service of EPO
  demand.add(epo, "search");
}

/** An account of one's own names the type; a wrong amount does not widen it. */
export function own(demand: Demand): void {
  demand.add(printer, { pages: 3 });
  // @ts-expect-error no such member
  demand.add(printer, { page: 3 });
  // @ts-expect-error a printer takes pages
  demand.add(printer);
  // @ts-expect-error no account at all
  demand.add({ fits: () => true }, 1);
}

/** A key is of the type that the limiter's function takes; the account of a key is what that function makes. */
export function keyed(demand: Demand): void {
  const tenants = new KeyedRateLimiter(
    "tenants",
    (tenant: string) => new TokenBucketRateLimiter(tenant, { tpm: 60_000, rpm: 60 }),
    { maxKeys: 100 },
  );
  same<TokenBucketRateLimiter, ReturnType<typeof tenants.accountFor>>(true);
  demand.add(tenants, "red").add(tenants, "red", 500);
  // @ts-expect-error keys are strings here
  demand.add(tenants, 7);
  // @ts-expect-error whose account?
  demand.add(tenants);
  const routes = new KeyedRateLimiter("routes", (route: "a" | "b") => new CountingGate(route, 1), {
    maxKeys: 2,
  });
  demand.add(routes, "a");
  // @ts-expect-error no such route
  demand.add(routes, "c");
}

/** The requirements of a job take what a demand takes. */
export function required(requirements: JobRequirements): void {
  requirements.limiter(gate).limiter(bucket, 300).limiter(printer, { pages: 1 });
  // @ts-expect-error how many tokens?
  requirements.limiter(bucket);
  // @ts-expect-error a printer takes pages
  requirements.limiter(printer, 1);
}

/** A subclass of the base gets its amounts in its own type. */
export abstract class Printer extends AbstractRateLimiter<Pages> {
  override fits(amounts: readonly Pages[], reserved: readonly Pages[]): boolean {
    return [...amounts, ...reserved].reduce((sum, { pages }) => sum + pages, 0) <= this.capacity;
  }

  // @ts-expect-error pages, not numbers
  override give(_amounts: readonly number[]): void {}
}

/** What a grant shows can be read and not written. */
export function shown(demand: Demand, grant: Grant): void {
  same<readonly DemandEntry[], typeof demand.entries>(true);
  // @ts-expect-error a grant is settled by its verbs
  grant.isSettled = true;
}
