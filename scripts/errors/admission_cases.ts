import { Admission, CountingGate, createJobContext, Demand, TokenBucketRateLimiter } from "../../mod.ts";
import { ManualClock, ScriptedLimiter } from "../../testing/mod.ts";
import { type ErrorCase, thrownBy } from "./case.ts";
import { compileInHandler } from "./kernel_case.ts";

const clock = new ManualClock();
const gate = new CountingGate("db:orders", 1, { clock });
const bucket = new TokenBucketRateLimiter("gpt", { tpm: 6_000, rpm: 60, clock });
const ofGate = new Demand().add(gate);
const ofBucket = new Demand().add(bucket, 6_000);

function admissionOf(options: { maxQueue?: number } = {}): Admission {
  return new Admission({ clock, memory: null, ...options }).start();
}

/** A wait for a place that somebody has, of half a second. */
async function waitTooLong(): Promise<unknown> {
  const admission = admissionOf();
  using _held = await admission.admit(ofGate);
  const error = thrownBy(() => admission.admit(ofGate, { timeoutMs: 500 }));
  await clock.advance(500);
  return await error;
}

/** A bucket that was emptied, and a caller who wants to know at once. */
async function failFast(): Promise<unknown> {
  const admission = admissionOf();
  using grant = await admission.admit(ofBucket);
  const error = await thrownBy(() => admission.admit(ofBucket, { timeoutMs: 1_000, failFast: true }));
  grant.rollback();
  return error;
}

async function fillLine(): Promise<unknown> {
  const admission = admissionOf({ maxQueue: 0 });
  using _held = await admission.admit(ofGate);
  return await thrownBy(() => admission.admit(ofGate));
}

async function cancelWait(): Promise<unknown> {
  const admission = admissionOf();
  const context = createJobContext();
  using _held = await admission.admit(ofGate);
  const error = thrownBy(() => admission.admit(ofGate, { context }));
  context.cancel();
  return await error;
}

function stop(): Promise<unknown> {
  const admission = admissionOf();
  admission.stop();
  return thrownBy(() => admission.admit(ofGate));
}

function nest(): Promise<unknown> {
  const admission = admissionOf();
  return thrownBy(() => admission.run(ofGate, () => admission.run(ofGate, () => "never")));
}

/** A wait in the line of an Admission that nobody has started. */
async function forgetStart(): Promise<unknown> {
  const admission = new Admission({ clock, memory: null });
  using _held = await admission.admit(ofGate);
  const error = thrownBy(() => admission.admit(ofGate, { timeoutMs: 500 }));
  await clock.advance(500);
  return await error;
}

async function settleElsewhere(): Promise<unknown> {
  using grant = await admissionOf().admit(ofGate);
  return await thrownBy(() => admissionOf().release(grant));
}

async function settleTwice(): Promise<unknown> {
  const grant = await admissionOf().admit(ofBucket);
  grant.rollback();
  return await thrownBy(() => grant.settle(bucket, 20));
}

/** An account of one's own that was written wrongly. */
function breakAccount(): Promise<unknown> {
  const broken = new ScriptedLimiter("uploads", "throws");
  return thrownBy(() => admissionOf().admit(new Demand().add(broken, 1)));
}

/** One that says no after it said yes, and then takes nothing back: what was taken for the job is lost. */
function breakForGood(): Promise<unknown> {
  const first = Object.assign(new ScriptedLimiter("uploads"), { giveThrows: true });
  const second = new ScriptedLimiter("scans", "declines");
  return thrownBy(() => admissionOf().admit(new Demand().add(first, 1).add(second, 1)));
}

/** What `admit`, `run`, `tryAdmit`, `start` and settling meet. */
export const ADMISSION_CASES: readonly ErrorCase[] = [
  {
    type: "TimeoutError",
    when: "The wait took `timeoutMs`, on a gate that others hold",
    remedy:
      "Come back later; when it happens often, the work holds its permits for too long or the capacity is too small. " +
      "`waitingOn` names who is short now.",
    template: "Not admitted within the time limit: waited <ms> ms for <accounts>",
    provoke: waitTooLong,
    demand: ofGate,
  },
  {
    type: "TimeoutError",
    when: "The wait took `timeoutMs` in the line of an Admission that was never started",
    remedy: "Write `new Admission().start()`: before that the line does not move.",
    template:
      "Not admitted within the time limit: waited <ms> ms for <accounts>; this Admission was never started, start() lets its line move",
    provoke: forgetStart,
    demand: ofGate,
  },
  {
    type: "TimeoutError",
    when:
      "The clock says when it would fit, and that is too late; with `failFast` this is told before the wait",
    remedy: "Come back after `retryAfterMs`, or ask for less.",
    template:
      "Not admitted within the time limit: waited <ms> ms for <accounts>; by the clock it would fit in <ms> ms",
    provoke: failFast,
    demand: ofBucket,
  },
  {
    type: "QueueFullError",
    when: "As many callers wait as the Admission's `maxQueue` allows",
    remedy:
      "Come back later. More arrives than leaves: shed load earlier, or raise what is short. A longer line only waits longer.",
    template: "Cannot wait: <n> wait already and maxQueue is <n>; try again later",
    provoke: fillLine,
    demand: ofGate,
  },
  {
    type: "CancellationError",
    when:
      "The job's context was cancelled while it waited. An aborted `signal` rejects with the signal's own reason instead",
    remedy: "Nothing: whoever cancelled it knows.",
    template: "The job was cancelled while it waited for admission",
    provoke: cancelWait,
  },
  {
    type: "CancellationError",
    when: "`stop()` was called; everybody in line and whoever comes later gets this",
    remedy: "Send the work to another process: this one is ending.",
    template: "This Admission was stopped; nobody is admitted any more",
    provoke: stop,
  },
  {
    type: "NestedDemandError",
    when: "Work inside `run` asks for a permit that the work around it holds, and the gate has no more",
    remedy: "Ask for everything in one demand, or do as the message says.",
    template:
      "Cannot admit: <n> more of <account> is asked inside run() while the work around it holds <n> of <capacity>, so both " +
      "would wait for ever. Ask for everything at once, raise the capacity, or pass { detached: true } if nobody waits for this work.",
    provoke: nest,
  },
  {
    type: "InvalidStateError",
    when: "The kernel had to be compiled where that is forbidden, as in a handler of Workers",
    remedy:
      "Call `setKernelModule` with the compiled kernel at the top of the module, as docs/workers.md shows.",
    template:
      "Cannot compile the kernel: this runtime forbids it here (<its words>), hand a compiled one to setKernelModule() before anything else",
    provoke: compileInHandler,
  },
  {
    type: "InvalidStateError",
    when: "`start()` was called a second time",
    remedy: "Start an Admission where it is made.",
    template: "Cannot start this Admission: it was started before, start it once",
    provoke: () => thrownBy(() => admissionOf().start()),
  },
  {
    type: "InvalidStateError",
    when:
      "A bucket or window reads another clock than the Admission, so its instants would mean nothing there",
    remedy: "Pass the same `clock` to both, or to neither.",
    template:
      "Cannot admit a demand on <account>: it reads another clock than this Admission, give both the same clock",
    provoke: () => thrownBy(() => new Admission({ memory: null }).start().admit(ofBucket)),
  },
  {
    type: "InvalidStateError",
    when: "A grant was handed to an Admission that did not make it",
    remedy: "Settle it with `grant.release()`, `using`, or at its own Admission.",
    template: "Cannot settle: the grant is another Admission's, give it to the one that made it",
    provoke: settleElsewhere,
  },
  {
    type: "InvalidStateError",
    when: "`grant.settle` was called after `rollback`",
    remedy: "Settle before the grant ends, or leave it: a rollback has returned the tokens.",
    template: "Cannot settle <account>: the grant was rolled back, so everything was refunded already",
    provoke: settleTwice,
  },
  {
    type: "UncorrectableError",
    when: "More permits are asked for than the gate has in all",
    remedy: "Ask for at most the capacity.",
    template: "<n> permits can never fit <account>: its capacity is <n>. Ask for at most that many.",
    provoke: () => thrownBy(() => admissionOf().tryAdmit(new Demand().add(gate, 2))),
  },
  {
    type: "UncorrectableError",
    when:
      "An account of your own threw while it was asked; `cause` is what it threw. Only this caller is refused",
    remedy: "Mend the account; `rateLimiterContract` of `./testing` tests one.",
    template: "Cannot admit: account <account> failed: <message>",
    provoke: breakAccount,
  },
  {
    type: "UncorrectableError",
    when:
      "An account of your own could not take back what an attempt took, so nobody knows any more what is in use: the Admission is closed for good",
    remedy: "Restart with a mended account. Alert on this code: nothing is admitted from then on.",
    template: "This Admission closed on a defect: <message>",
    provoke: breakForGood,
  },
  {
    type: "UncorrectableError",
    when: "An account refuses with a message of its own",
    remedy: "What the message says; it is written so that a model can read it.",
    template: "<message>",
    provoke: () =>
      thrownBy(() => admissionOf().admit(new Demand().add(new ScriptedLimiter("search", "refuses"), 1))),
  },
];
