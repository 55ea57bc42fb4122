import {
  AbstractDBResourceProvider,
  Admission,
  Cost,
  CostLedger,
  CountingDBResourceProvider,
  createJobContext,
  DBResourceProviders,
  HttpConnectionGate,
  JobRequirements,
  JobRunner,
  type JobRunnerOptions,
  type JobWork,
  ModelBinding,
  type ModelPrices,
  RateLimiterFactory,
  RetrySignal,
  SpendGates,
  UpstreamFailure,
} from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";
import { type ErrorCase, thrownBy } from "./case.ts";

const clock = new ManualClock();
const admission = new Admission({ clock, memory: null }).start();
const DOLLARS: ModelPrices = { currency: "USD", inputPerMillion: 2, outputPerMillion: 10 };

/** A pool whose driver fails where a case wants it to. */
class FlakyProvider extends AbstractDBResourceProvider<object> {
  readonly #failing: "checkOut" | "handBack" | null;

  constructor(failing: "checkOut" | "handBack" | null) {
    super("orders", 4, { clock });
    this.#failing = failing;
  }

  protected override checkOut(): Promise<object> {
    return this.#failing === "checkOut"
      ? Promise.reject(new Error("too many connections"))
      : Promise.resolve({});
  }

  protected override stackOf(connection: object): object {
    return connection;
  }

  protected override beginOn(): void {}
  protected override commitOn(): void {}
  protected override rollbackOn(): void {}
  protected override restore(): void {}
  protected override sever(): void {}

  protected override handBack(): Promise<void> {
    return this.#failing === "handBack" ? Promise.reject(new Error("socket closed")) : Promise.resolve();
  }
}

function runnerOf(options: JobRunnerOptions = {}): JobRunner {
  return new JobRunner(admission, {
    accounts: new RateLimiterFactory({ clock }),
    clock,
    http: new HttpConnectionGate(8, { clock }),
    ...options,
  });
}

const needs = (timeoutMs = 1_000) => new JobRequirements({ timeoutMs }).http();

function callOf(prices: ModelPrices | null): ModelBinding {
  const model = { id: "gpt", tpm: 9_000_000, maxContextTokens: 2_000_000, maxOutputTokens: 100_000, prices };
  return new ModelBinding({ model, depth: "IMMEDIATE", input: 1_000_000, output: 100_000 });
}

/** What a ledger with a cap of one dollar says of a call. */
function spend(prices: ModelPrices | null): Promise<unknown> {
  const ledger = new CostLedger();
  ledger.cap("nightly", new Cost(1, "USD"));
  const runner = runnerOf({ spendGates: new SpendGates().register(ledger) });
  const context = createJobContext({ id: "report 7", metadata: { workflow: "nightly" } });
  return thrownBy(() => runner.run(needs().model(callOf(prices)), () => "never", { context }));
}

/** A job that never ends by itself. */
async function runTooLong(): Promise<unknown> {
  const work: JobWork<never> = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const error = thrownBy(() =>
    runnerOf().run(needs(1_000), work, { context: createJobContext({ id: "report 7" }) })
  );
  await clock.advance(1_000);
  return await error;
}

function cancelBefore(): Promise<unknown> {
  const context = createJobContext();
  context.cancel();
  return thrownBy(() => runnerOf().run(needs(), () => "never", { context }));
}

function useUp(): Promise<unknown> {
  const failure = new UpstreamFailure({ statusCode: 503, service: "openai", detail: "overloaded" });
  return thrownBy(() =>
    runnerOf({ maxRetries: 0 }).run(needs(), () => {
      throw new RetrySignal("TRANSIENT", failure);
    })
  );
}

function runOn(failing: "checkOut" | "handBack"): Promise<unknown> {
  const requirements = needs().database(new FlakyProvider(failing));
  return thrownBy(() => runnerOf().run(requirements, () => "done"));
}

async function beginTwice(): Promise<unknown> {
  const provider = new FlakyProvider(null);
  const handle = await provider.acquire();
  await provider.begin(handle);
  return await thrownBy(() => provider.begin(handle));
}

async function useClosed(): Promise<unknown> {
  const provider = new FlakyProvider(null);
  const handle = await provider.acquire();
  await provider.close(handle);
  return await thrownBy(() => provider.begin(handle));
}

function undeclared(): Promise<unknown> {
  const other = new CountingDBResourceProvider("invoices", 2);
  return thrownBy(() => runnerOf().run(needs(), (scope) => scope.resource(other)));
}

function registerTwice(): Promise<unknown> {
  const providers = new DBResourceProviders();
  providers.register(new CountingDBResourceProvider("orders", 2));
  return thrownBy(() => providers.register(new CountingDBResourceProvider("orders", 2)));
}

/** What jobs, their money and their databases meet. */
export const JOB_CASES: readonly ErrorCase[] = [
  {
    type: "JobTimeoutError",
    when:
      "An attempt of a job took longer than its `timeoutMs`; its handles were closed and its permits given back",
    remedy:
      "Give it more time or less to do. `part` says what it was at; whether a commit that it was at took place is not known.",
    template: "Job <id> ran longer than its timeoutMs of <ms> ms; it was at <part>",
    provoke: runTooLong,
  },
  {
    type: "CancellationError",
    when: "The job's context was cancelled before its work began, or in a pause before a retry",
    remedy: "Nothing: whoever cancelled it knows.",
    template: "The job was cancelled",
    provoke: cancelBefore,
  },
  {
    type: "SpendCapError",
    when: "What the job may cost at most would exceed what the workflow may spend",
    remedy:
      'Where `isFinal` is false, running jobs stand in the way, whose commitments shrink to what they really cost: ask again later, or make the ledger with `beyond: "wait"`. Otherwise raise the cap.',
    template:
      "Cannot start job <id>: the workflow <name> has spent <cost> and committed <cost>, and this job's reservation of <cost> " +
      "would exceed its cap of <cost>",
    provoke: () => spend(DOLLARS),
  },
  {
    type: "SpendCapError",
    when: "The workflow has a cap, and the model's spec says nothing of its prices",
    remedy: "Give the spec `prices`; 0 is a price.",
    template:
      "Cannot start job <id>: the workflow <name> has a spend cap, and the model <model> has no prices to count against it. " +
      "Use a model with prices.",
    provoke: () => spend(null),
  },
  {
    type: "SpendCapError",
    when: "The workflow has caps, but none in the currency of the model's prices",
    remedy: "Set a cap in that currency as well, or use another model.",
    template:
      "Cannot start job <id>: the workflow <name> has a spend cap, and the model <model> is priced in <currency>, in which " +
      "there is none. Use a model priced in <currencies>.",
    provoke: () => spend({ ...DOLLARS, currency: "EUR" }),
  },
  {
    type: "UncorrectableError",
    when: "The job was run again as often as its `maxRetries` allows; `cause` is the last RetrySignal",
    remedy: "Report the upstream as down; the budget was for faults that pass.",
    template: "The upstream still fails, and the job's retry budget of <n> is used up: <failure>",
    provoke: useUp,
  },
  {
    type: "UncorrectableError",
    when: "A database provider failed at a verb; `cause` is the driver's error",
    remedy:
      "Do what the driver's error asks for. At `acquire` the pool may have fewer connections than the provider's gate has permits.",
    template: "Cannot <verb> on provider <name>: <message>",
    provoke: () => runOn("checkOut"),
  },
  {
    type: "UncorrectableError",
    when: "The work is done, and committed if it was in a transaction, but a handle could not be closed",
    remedy: "Do not run the job again. Look at the pool: a connection may be lost.",
    template: "The job's work is done, but what it held could not be closed whole: <message>",
    provoke: () => runOn("handBack"),
  },
  {
    type: "InvalidStateError",
    when: "A second transaction was begun on a handle",
    remedy: "Commit or roll back the first; savepoints are the driver's business.",
    template: "Cannot begin on provider <name>: a transaction is open, commit or roll it back first",
    provoke: beginTwice,
  },
  {
    type: "InvalidStateError",
    when: "A handle was used after it was closed or aborted",
    remedy: "Acquire another. In a job: nothing of `scope` may be used after the work has returned.",
    template: "Cannot <verb> on provider <name>: the handle was closed, acquire another",
    provoke: useClosed,
  },
  {
    type: "InvalidStateError",
    when: "The work asks its scope for a database that the job did not declare",
    remedy: "Declare it, so that it is admitted for as well.",
    template:
      "Cannot give out a handle of provider <name>: the job did not declare it, call JobRequirements.database() before",
    provoke: undeclared,
  },
  {
    type: "InvalidStateError",
    when: "Two providers were registered under one name",
    remedy: "Register each datasource once, at the start of the process.",
    template: "Cannot register a provider as <name>: another one has that name, unregister it first",
    provoke: registerTwice,
  },
  {
    type: "InvalidStateError",
    when: "A provider was asked for by a name that nobody registered",
    remedy: "Register it first, or mend the name.",
    template: "Cannot get provider <name>: none is registered, register it first",
    provoke: () => thrownBy(() => new DBResourceProviders().get("orders")),
  },
  {
    type: "InvalidStateError",
    when: "A call's reservation was read before the call was priced",
    remedy: "Call `price()` first; JobRunner does.",
    template: "Cannot read the reservation of <call>: it is not priced, call price() first",
    provoke: () => thrownBy(() => callOf(null).reservation),
  },
];
