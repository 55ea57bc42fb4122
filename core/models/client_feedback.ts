import { ModelGate } from "../accounts/model_gate.ts";
import { TokenBucketRateLimiter } from "../accounts/token_bucket.ts";
import { UncorrectableError } from "../errors.ts";
import { show } from "../invariant.ts";
import { checkedResponse, isResponse } from "./checked_response.ts";
import { classifyUpstreamFailure } from "./classify_upstream_failure.ts";
import { RetrySignal } from "./retry_signal.ts";

/** The account of a model: its bucket, or its gate when it has `maxConcurrent`. */
export type ModelAccount = TokenBucketRateLimiter | ModelGate;

/**
 * Makes one call upstream and tells the bucket of its model how it went: a normal return is one success, whatever the answer
 * says, unless it is a Response of 400 or more; a rate limit is one slow-down, overload three. Transient faults and all other
 * errors touch nothing. A gate is told nothing. What is thrown is what `classifyUpstreamFailure` makes of the failure.
 *
 * `call` must throw when the upstream refuses. `fetch` itself does not, so a Response that the call answers goes through
 * `checkedResponse`: with a status of 400 or more it is a failure. A call that reads its response calls that itself.
 *
 * @throws TypeError, as a rejection, when the account or the call is not as said.
 */
export async function callUpstream<R>(account: ModelAccount, call: () => R | PromiseLike<R>): Promise<R> {
  const bucket = checkedBucket(account, call);
  const result = await asked(bucket, async () => {
    const answer = await call();
    if (isResponse(answer)) await checkedResponse(answer);
    return answer;
  });
  bucket?.recordSuccess();
  return result;
}

/**
 * Makes one call upstream whose answer arrives in chunks, with the feedback of `callUpstream`. `open` is called when the first
 * chunk is asked for, and throws when the upstream refuses (`checkedResponse`). Until a chunk has arrived, a failure is what it
 * is for a whole answer. Afterwards a rate limit or overload is still told, but nothing can be run again unnoticed: a signal
 * becomes an UncorrectableError that says so, with the signal as cause; other errors pass as before. The end of the stream is one
 * success, and so is leaving it early, which closes it.
 *
 * @throws TypeError at once when the account or `open` is not as said.
 */
export function streamUpstream<C>(
  account: ModelAccount,
  open: () => AsyncIterable<C> | PromiseLike<AsyncIterable<C>>,
): AsyncGenerator<C, void, undefined> {
  return chunksOf(checkedBucket(account, open), open);
}

async function* chunksOf<C>(
  bucket: TokenBucketRateLimiter | null,
  open: () => AsyncIterable<C> | PromiseLike<AsyncIterable<C>>,
): AsyncGenerator<C, void, undefined> {
  const chunks = await asked(bucket, async () => (await open())[Symbol.asyncIterator]());
  let step = await asked(bucket, () => chunks.next());
  while (step.done !== true) {
    let isWanted = false;
    try {
      yield step.value;
      isWanted = true;
    } finally {
      if (!isWanted) {
        bucket?.recordSuccess();
        await chunks.return?.();
      }
    }
    step = await asked(bucket, () => chunks.next(), brokenOff);
  }
  bucket?.recordSuccess();
}

/** One step of a call. What goes wrong in it is judged, told, and thrown as `signalled` makes it when it is a signal. */
async function asked<R>(
  bucket: TokenBucketRateLimiter | null,
  step: () => R | PromiseLike<R>,
  signalled: (signal: RetrySignal) => Error = (signal) => signal,
): Promise<R> {
  try {
    return await step();
  } catch (error) {
    const verdict = classifyUpstreamFailure(error);
    if (!(verdict instanceof RetrySignal)) throw verdict;
    if (verdict.weight > 0) bucket?.recordBackpressure(verdict.weight);
    throw signalled(verdict);
  }
}

function brokenOff(signal: RetrySignal): UncorrectableError {
  return new UncorrectableError(
    `The upstream failed mid-stream, after part of its answer had arrived, so it is not asked again: ${signal.failure.summary()}`,
    { cause: signal },
  );
}

/** The bucket to tell, null for a gate. @throws TypeError when an argument is not as said. */
function checkedBucket(account: ModelAccount, call: unknown): TokenBucketRateLimiter | null {
  if (typeof call !== "function") {
    throw new TypeError(`Cannot call upstream: the call is ${show(call)}, it should be a function`);
  }
  if (account instanceof TokenBucketRateLimiter) return account;
  if (account instanceof ModelGate) return null;
  throw new TypeError(
    `Cannot call upstream: account is ${show(account)}, it should be a TokenBucketRateLimiter or a ModelGate`,
  );
}
