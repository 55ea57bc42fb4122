/** Handlers of Hono, work under a grant and work of a job know what they were given. See same.ts. */
import { Hono } from "hono";
import { admittedFetch, type Fetch } from "../../adapters/fetch.ts";
import { admit } from "../../adapters/hono.ts";
import {
  type Admission,
  type DBResourceProvider,
  type Demand,
  type Grant,
  type JobContext,
  type JobRequirements,
  type JobRunner,
  streamUpstream,
  type TokenBucketRateLimiter,
} from "../../mod.ts";
import { same } from "./same.ts";

declare const demand: Demand;
declare const admission: Admission;

/** The grant stands in the variable of its name, undefined only where requests may be let through. */
export function routes(): Hono {
  const app = new Hono();
  app.get("/a", admit({ demand }), (c) => {
    same<Grant, typeof c.var.grant>(true);
    // @ts-expect-error nobody set it
    c.get("other");
    return c.text("");
  });
  app.get("/b", admit({ demand, skip: () => true }), (c) => {
    same<Grant | undefined, typeof c.var.grant>(true);
    return c.text("");
  });
  app.get("/c", admit({ demand, name: "slot" }), admit({ demand, name: "tokens" }), (c) => {
    same<Grant, typeof c.var.slot>(true);
    same<Grant, typeof c.var.tokens>(true);
    return c.text("");
  });
  // @ts-expect-error what does a request need?
  admit({});
  // @ts-expect-error no such form
  admit({ demand, standardHeaders: "draft-1" });
  return app;
}

/** What the work returns is what the caller gets. */
export async function work(): Promise<void> {
  const answer = await admission.run(demand, async (grant) => {
    same<Grant, typeof grant>(true);
    return { text: await Promise.resolve("yes") };
  });
  same<{ text: string }, typeof answer>(true);
  const count = await admission.run(demand, () => 3);
  same<number, typeof count>(true);
  same<Grant | null, ReturnType<typeof admission.tryAdmit>>(true);
  // @ts-expect-error a timeout is in milliseconds, a number
  await admission.admit(demand, { timeoutMs: "5s" });
  // @ts-expect-error no such option
  await admission.admit(demand, { timeout: 5_000 });
}

/** A driver's handle, as a provider promises it. */
interface Handle {
  query(text: string): Promise<readonly { readonly id: number }[]>;
}

declare const runner: JobRunner;
declare const requirements: JobRequirements;
declare const database: DBResourceProvider<Handle>;

/** A job's handle is of its provider's type, and its result is the caller's. */
export async function job(): Promise<void> {
  const rows = await runner.run(requirements, async (scope) => {
    const handle = scope.resource(database).unwrap();
    same<Handle, typeof handle>(true);
    same<JobContext, typeof scope.context>(true);
    same<AbortSignal, typeof scope.signal>(true);
    // @ts-expect-error the runner says which attempt it is
    scope.attempt = 2;
    return await handle.query("");
  });
  same<readonly { readonly id: number }[], typeof rows>(true);
}

/** A stream's chunks keep their type; the fetch of clients is a fetch. */
export async function calls(
  bucket: TokenBucketRateLimiter,
  open: () => AsyncIterable<{ text: string }>,
): Promise<void> {
  for await (const chunk of streamUpstream(bucket, open)) same<{ text: string }, typeof chunk>(true);
  const fetchOf: Fetch = admittedFetch({ admission, provider: "openai", fetch: globalThis.fetch });
  same<Promise<Response>, ReturnType<typeof fetchOf>>(true);
  // @ts-expect-error no reader for it
  admittedFetch({ admission, provider: "nobody" });
}
