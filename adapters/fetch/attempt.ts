import { type Grant, InvalidStateError, type RetrySignal } from "../../mod.ts";
import { type AnswerReading, answerReading } from "./answer_reading.ts";
import type { Call } from "./call.ts";
import { NO_FAULT, type Verdict, verdictOnAnswer, verdictOnError } from "./failed_answer.ts";
import { heldResponse, type OpenBody } from "./held_response.ts";
import { type Ending, Lease } from "./lease.ts";
import { attempt as doQuietly, tellFailure, tellSuccess } from "./outcome.ts";

/** Decides whether a request is sent again: the pause before it in ms, or null. */
export type Pacing = (signal: RetrySignal) => number | null;

/** How an attempt ended: with a response to hand on, or a pause. */
export type Attempted = { readonly response: Response } | { readonly pauseMs: number };

/**
 * Sends a request once: waits for its permits, sends, tells the accounts what came of it. The permits of a response that is handed
 * on are held until its body is used up; those of one that is not are given back before this resolves.
 *
 * @throws as `Admission.admit` and fetch do; the signal's reason when it aborts.
 */
export async function attemptCall(call: Call, pacing: Pacing): Promise<Attempted> {
  const { signal } = call.outgoing;
  const grant = await admitted(call);
  if (signal?.aborted) {
    grant.rollback();
    throw signal.reason;
  }
  try {
    return await send(call, grant, pacing);
  } catch (error) {
    // Does nothing when the permits were given back already.
    doQuietly(call.options.logger, "settle a grant", () => grant.release());
    throw error;
  }
}

async function admitted({ outgoing: { signal }, options, demand, admit, bucket }: Call): Promise<Grant> {
  try {
    return await options.admission.admit(demand, { ...admit, ...(signal === null ? {} : { signal }) });
  } catch (error) {
    if (!(error instanceof InvalidStateError) || bucket === null) throw error;
    // Nobody has made the bucket by hand, so a word on where it comes from.
    throw new InvalidStateError(
      `${error.message}. Buckets of models are those of the option accounts: ` +
        "new RateLimiterFactory({ clock }) makes its own, on that clock",
      { cause: error },
    );
  }
}

async function send(call: Call, grant: Grant, pacing: Pacing): Promise<Attempted> {
  const { input, init, signal } = call.outgoing;
  const sentMs = call.options.clock.now();
  let response: Response;
  try {
    response = await call.options.fetch(input, init);
  } catch (error) {
    const fault: unknown = signal?.aborted ? signal.reason : error;
    const verdict = hasMostlyWaited(call, sentMs) ? NO_FAULT : verdictOnError(fault);
    tellFault(call, verdict);
    const pauseMs = verdict.signal === null || signal?.aborted ? null : pacing(verdict.signal);
    if (pauseMs === null) throw fault;
    grant.release();
    return { pauseMs };
  }
  return await judge(call, { grant, sentMs, response, pacing });
}

/**
 * Whether an abort ended a request that was out for less time than its call had waited before. A time limit of the caller covers the
 * line, the pauses and earlier attempts as well: whether the service was slow, nobody can tell from it then.
 */
function hasMostlyWaited({ options, outgoing, sinceMs }: Call, sentMs: number): boolean {
  return outgoing.signal?.aborted === true && options.clock.now() - sentMs < sentMs - sinceMs;
}

interface Answered {
  readonly grant: Grant;
  /** When the request was sent, by the clock. */
  readonly sentMs: number;
  readonly response: Response;
  readonly pacing: Pacing;
}

async function judge(call: Call, { grant, sentMs, response, pacing }: Answered): Promise<Attempted> {
  const body = openBody(response);
  const verdict = await verdictOnAnswer(
    { response, body, service: call.outgoing.view.url.host },
    call.options,
  );
  tellFault(call, verdict);
  if (response.ok) learn(call, response);
  const pauseMs = verdict.signal === null ? null : pacing(verdict.signal);
  if (pauseMs === null) return { response: handOn(call, { grant, sentMs, response, body, verdict }) };
  body?.reader.cancel().catch(() => {});
  grant.release();
  return { pauseMs };
}

/** Null when there is nothing to read, or it is none of fetch's streams. */
function openBody({ body }: Response): OpenBody | null {
  if (body === null || typeof body?.getReader !== "function" || body.locked) return null;
  return { reader: body.getReader(), read: [] };
}

/** Failures are told at once: whoever hands the permits back may take its time over the body. */
function tellFault({ demand, bucket, options }: Call, { signal, failure }: Verdict): void {
  if (failure !== null) tellFailure(demand, options.logger, failure);
  const weight = signal?.weight ?? 0;
  if (weight > 0) doQuietly(options.logger, "slow a model down", () => bucket?.recordBackpressure(weight));
}

/** Caps are learned before the success is recorded (RI-06). */
function learn({ model, bucket, options, outgoing }: Call, response: Response): void {
  if (model === null || bucket === null || !options.learn) return;
  const isEmbeddings = model.kind === "EMBEDDINGS" || outgoing.view.url.pathname.endsWith("/embeddings");
  doQuietly(options.logger, "learn the limits of a model", () =>
    options.accounts.learnLimits(model, {
      info: options.reader.onSuccess(model.id, response.headers),
      kind: isEmbeddings ? "EMBEDDINGS" : model.kind,
      isSuccess: true,
      isStreaming: response.headers.get("content-type")?.startsWith("text/event-stream") === true,
    }));
}

interface HandedOn extends Omit<Answered, "pacing"> {
  readonly body: OpenBody | null;
  readonly verdict: Verdict;
}

function handOn(call: Call, { grant, sentMs, response, body, verdict }: HandedOn): Response {
  const { signal } = call.outgoing;
  const reading = response.ok && call.model !== null
    ? answerReading(response.headers.get("content-type"))
    : null;
  const lease = new Lease(finisher(call, { grant, sentMs, reading, isOk: response.ok, verdict }), signal);
  if (body !== null) return heldResponse(response, { body, lease, reading, signal });
  lease.end({ how: "whole" });
  return response;
}

interface Used {
  readonly grant: Grant;
  readonly sentMs: number;
  readonly reading: AnswerReading | null;
  readonly isOk: boolean;
  readonly verdict: Verdict;
}

/** Settles an attempt when the use of its body has ended. It keeps nothing of the response alive. */
function finisher(call: Call, used: Used): (ending: Ending) => void {
  return (ending) => {
    const { logger } = call.options;
    doQuietly(logger, "settle a model's tokens", () => settle(call, used, ending));
    // What failed at its head was told then.
    if (used.verdict.failure === null) {
      doQuietly(logger, "tell an outcome", () => tellEnd(call, used, ending));
    }
    doQuietly(logger, "settle a grant", () => used.grant.release());
  };
}

function settle({ bucket, options }: Call, { grant, reading }: Used, ending: Ending): void {
  const usage = reading?.usage(ending.how === "whole") ?? null;
  if (bucket === null || usage === null) return;
  grant.settle(bucket, options.count(usage));
}

/** A response that its consumer left, or aborted on purpose, did come; one that broke off for a reason unknown says nothing. */
function tellEnd(call: Call, { isOk, reading, sentMs }: Used, ending: Ending): void {
  const verdict = reading?.fault
    ? verdictOnError({ error: reading.fault })
    : ending.how === "failed"
    ? verdictOnError(ending.error)
    : NO_FAULT;
  if (verdict.signal !== null) {
    if (reading?.fault || !hasMostlyWaited(call, sentMs)) tellFault(call, verdict);
    return;
  }
  if (reading?.fault || (ending.how === "failed" && call.outgoing.signal?.aborted !== true)) return;
  if (isOk) call.bucket?.recordSuccess();
  tellSuccess(call.demand, call.options.logger);
}
