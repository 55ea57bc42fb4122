import {
  Admission,
  CountingGate,
  Demand,
  ElasticWindowRateLimiter,
  KeyedRateLimiter,
  ModelBinding,
  RateLimiterFactory,
  RateLimiterRegistry,
  STDIOEndpoint,
  STDIOEndpoints,
  TokenBucketRateLimiter,
  UpstreamFailure,
} from "../../mod.ts";
import { admittedFetch } from "../../adapters/fetch.ts";
import { ManualClock } from "../../testing/mod.ts";
import { type ErrorCase, thrownBy } from "./case.ts";

const clock = new ManualClock();
const admission = new Admission({ clock, memory: null }).start();
const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 2, clock });
const keyedOf = (maxKeys: number) =>
  new KeyedRateLimiter("tenants", (key: string) => new CountingGate(key, 1, { clock }), { maxKeys });

/** A window whose upstream has failed for so long that its circuit is open. */
function circuitOpen(): Promise<unknown> {
  const window = new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: 1_000, clock });
  const failure = new UpstreamFailure({ statusCode: 503, service: "search", detail: "overloaded" });
  for (let i = 0; i < 11; i++) window.onRateLimitError(failure);
  return thrownBy(() => admission.tryAdmit(new Demand().add(window)));
}

function tooManyRequests(): Promise<unknown> {
  const window = new ElasticWindowRateLimiter("search", { maxRequests: 10, baseWindowMs: 1_000, clock });
  return thrownBy(() => admission.tryAdmit(new Demand().add(window, 11)));
}

async function keysFull(): Promise<unknown> {
  const tenants = keyedOf(1);
  using _grant = await admission.admit(new Demand().add(tenants, "ann"));
  return await thrownBy(() => new Demand().add(tenants, "bob"));
}

async function keyGivenUp(): Promise<unknown> {
  const tenants = keyedOf(1);
  const ann = tenants.accountFor("ann");
  using _grant = await admission.admit(new Demand().add(tenants, "bob"));
  return await thrownBy(() => ann.tryTake([undefined], []));
}

async function toolShutDown(): Promise<unknown> {
  const endpoint = new STDIOEndpoint({ command: "npx", args: ["files-server"], name: "files" });
  const endpoints = new STDIOEndpoints({ clock });
  const demand = new Demand();
  for (const account of endpoints.accounts(endpoint)) demand.add(account);
  await endpoints.shutdown();
  return await thrownBy(() => admission.admit(demand));
}

function disposed(): Promise<unknown> {
  const gate = new CountingGate("http", 8, { clock });
  gate.dispose();
  return thrownBy(() => admission.tryAdmit(new Demand().add(gate)));
}

/** A class that a registry cannot make, because its constructor wants something. */
class Renderers extends CountingGate {
  constructor(capacity: number) {
    super("renderers", capacity);
  }
}

function noContext(): Promise<unknown> {
  const model = { id: "gpt", tpm: 90_000, maxContextTokens: 8_000, maxOutputTokens: 4_000 };
  const call = new ModelBinding({ model, depth: "IMMEDIATE", input: 6_000, output: 4_000 });
  return thrownBy(() => call.price());
}

function unknownModel(): Promise<unknown> {
  const models = [{ id: "gpt-5", tpm: 90_000 }, { id: "gpt-5-mini", tpm: 90_000 }];
  const accounts = new RateLimiterFactory({ clock });
  const ask = admittedFetch({ admission, provider: "openai", models, accounts, clock });
  const body = JSON.stringify({ model: "gpt-6" });
  return thrownBy(() => ask("https://api.openai.com/v1/responses", { method: "POST", body }));
}

/** What accounts of each kind meet. */
export const ACCOUNT_CASES: readonly ErrorCase[] = [
  {
    type: "UncorrectableError",
    when: "One job asks for more tokens than the bucket gets in a minute",
    remedy: "Shorten the request, or raise the `tpm` if the provider grants more.",
    template:
      "A demand of <n> tokens exceeds the token cap of <account>, <n> per minute. Ask for at most that many.",
    provoke: () => thrownBy(() => admission.tryAdmit(new Demand().add(bucket, 9_000))),
  },
  {
    type: "UncorrectableError",
    when: "One job asks for more requests than the bucket gets in a minute",
    remedy: "Make several jobs of it.",
    template:
      "A demand of <n> requests exceeds the request cap of <account>, <n> per minute. Split the demand.",
    provoke: () =>
      thrownBy(() => admission.tryAdmit(new Demand().add(bucket, 1).add(bucket, 1).add(bucket, 1))),
  },
  {
    type: "UncorrectableError",
    when: "One job asks for more requests than the window has",
    remedy: "Make several jobs of it.",
    template: "<n> requests can never fit <account>: it allows <rate>. Split the demand.",
    provoke: tooManyRequests,
  },
  {
    type: "UncorrectableError",
    when:
      "The upstream behind a window keeps failing, so its circuit is open (or a single probe is on its way): everybody is refused",
    remedy:
      "Do without that upstream until `retryAfterMs` has passed; the first job after that is the probe.",
    template:
      "<account> (<rate>) refuses everyone: its upstream keeps failing. Cooldown is active: <n> seconds remain. " +
      "Do not retry this tool family now; use another way. <last failure>",
    provoke: circuitOpen,
  },
  {
    type: "UncorrectableError",
    when: "The tool's subprocess was shut down",
    remedy: "Use another tool, or make a new endpoint.",
    template: "The endpoint of <account> was shut down and takes no more calls. Use another tool.",
    provoke: toolShutDown,
  },
  {
    type: "UncorrectableError",
    when: "A registry was asked for a class that it cannot make",
    remedy: "Give every parameter of the constructor a default value, or make the account yourself.",
    template:
      "Cannot make an account of <class>: <fault>. This is a fault of the deployment; no other request would do.",
    // TypeScript refuses such a class; the registry is asked past it.
    provoke: () =>
      thrownBy(() => new RateLimiterRegistry().limiter(Renderers as unknown as new () => CountingGate)),
  },
  {
    type: "KeysFullError",
    when: "All keys that the limiter may have are in use, and a new one comes",
    remedy: 'Come back later, raise `maxKeys`, or let late keys share an account (`beyond: "share"`).',
    template:
      "Cannot make an account for one more key: <limiter> has <n> of at most <n> keys in use; try again later",
    provoke: keysFull,
  },
  {
    type: "KeysFullError",
    when: "The account of a key was kept while it was at rest, and its place went to another key meanwhile",
    remedy: "Name the limiter and the key in the demand instead of keeping the account.",
    template:
      "Cannot use <account>: its key was forgotten for another one, because <limiter> keeps at most <n>; ask accountFor(key) again",
    provoke: keyGivenUp,
  },
  {
    type: "CorrectableError",
    when: "A key that came from outside is too long to be kept",
    remedy: "Refuse the request, or use a hash as the key.",
    template: "Cannot limit a key of <limiter>: it has <n> characters, it should have at most <n>",
    provoke: () => thrownBy(() => new Demand().add(keyedOf(1), "x".repeat(300))),
  },
  {
    type: "CorrectableError",
    when: "A request names a model that is not in the list of an `admittedFetch`",
    remedy:
      "Ask for one that is; `models` as a function may answer null for others, which then take no tokens.",
    template: "Cannot admit a request: its model is <model>, it should be one of <models>",
    provoke: unknownModel,
  },
  {
    type: "CorrectableError",
    when: "A call does not fit into the model's context window",
    remedy: "Shorten the input or ask for less output; the message is fit for a model to read.",
    template:
      "Cannot price a call of <model>: its input of <n> tokens and its output of <n> are <n> together, they should be at " +
      "most the model's context window of <n>",
    provoke: noContext,
  },
  {
    type: "InvalidStateError",
    when: "A disposed account was used",
    remedy: "Make a new one; waiters and grants keep theirs until they end.",
    template: "Cannot use <account>: it was disposed, make a new account",
    provoke: disposed,
  },
  {
    type: "InvalidStateError",
    when: "More was given back to a gate than was taken, outside of any grant",
    remedy: "Leave `give` to grants.",
    template:
      "Cannot give permits back to <account>: it gets <n> and has <n> in use, give back what was taken, once",
    provoke: () => thrownBy(() => new CountingGate("http", 8).give([undefined])),
  },
];
