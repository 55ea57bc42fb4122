import type { RetrySignal } from "../../mod.ts";
import { show } from "../show.ts";
import { attemptCall, type Pacing } from "./attempt.ts";
import { type Call, callOf } from "./call.ts";
import { type AdmittedFetchOptions, type CheckedOptions, checkedOptions } from "./options.ts";
import { type Fetch, outgoingOf } from "./outgoing.ts";
import { attempt as doQuietly } from "./outcome.ts";
import { pause } from "./pause.ts";

/**
 * A fetch that asks before it sends: each request waits until the quota of its model, a place in the HTTP pool and whatever else it
 * needs are its own, all at once, and holds them until the body of its response is read to the end, cancelled or collected. It
 * takes what fetch takes and answers what fetch answers, so it goes wherever a client takes a `fetch`.
 *
 * - A signal that aborts ends the wait, the request or the body, whichever it meets, with the signal's reason. A time limit
 *   (`AbortSignal.timeout`) counts as a failure of the service only when the request was out at least as long as its call had
 *   waited before it was sent: give `admit: { timeoutMs }` well below it.
 * - 429, overload and passing faults are retried after a pause that is at least as long as the provider asked for; permits are
 *   given back before it and asked for anew after it. When there is no retry left, or the pause would be too long, the response
 *   is handed on as it is. Exhausted quota, a body that is a stream, and what fails after the response has begun are not retried.
 * - When the Admission stops, whoever waits or pauses is rejected with its CancellationError.
 * - What the response says of its usage replaces the estimate; when it says nothing, the estimate stands.
 *
 * It rejects as fetch does, as `Admission.admit` does, and with what the functions in the options throw.
 *
 * @throws TypeError or RangeError at once, when an option is not as said.
 */
export function admittedFetch(options: AdmittedFetchOptions): Fetch {
  const checked = checkedOptions(options);
  return async (input, init) => {
    const sinceMs = checked.clock.now();
    const outgoing = await outgoingOf(input, init);
    return await answerOf(callOf(checked, outgoing, sinceMs));
  };
}

async function answerOf(call: Call): Promise<Response> {
  const { options, outgoing } = call;
  for (let reruns = 0;; reruns++) {
    const attempted = await attemptCall(call, pacingOf(call, reruns));
    if ("response" in attempted) return attempted.response;
    await pause(options, attempted.pauseMs, outgoing.signal);
  }
}

/** What is done about a signal after so many re-runs. */
function pacingOf({ options, outgoing }: Call, reruns: number): Pacing {
  return (signal) => {
    const verdict = pauseOf(options, { signal, reruns, canRepeat: outgoing.canRepeat });
    const summary = signal.failure.summary();
    doQuietly(
      options.logger,
      "log a retry",
      () =>
        typeof verdict === "number"
          ? options.logger?.info(
            `Asks again in ${verdict} ms, retry ${reruns + 1} of ${options.maxRetries}: ${summary}`,
          )
          : options.logger?.warn(`Does not ask again, ${verdict}: ${summary}`),
    );
    return typeof verdict === "number" ? verdict : null;
  };
}

interface Failed {
  readonly signal: RetrySignal;
  readonly reruns: number;
  readonly canRepeat: boolean;
}

/** The pause in ms, or why there is none. */
function pauseOf(options: CheckedOptions, { signal, reruns, canRepeat }: Failed): number | string {
  if (!canRepeat) return "its body is a stream and cannot be sent twice";
  if (reruns >= options.maxRetries) return `its ${options.maxRetries} retries are used up`;
  const pauseMs = Math.max(checkedPause(options.pauseMs(signal, reruns)), signal.retryAfterMs ?? 0);
  return pauseMs <= options.maxPauseMs ? pauseMs : `the pause of ${pauseMs} ms would be too long`;
}

function checkedPause(answer: unknown): number {
  if (typeof answer === "number" && answer >= 0) return answer;
  const message = `Cannot send a request again: the answer of pauseMs is ${show(answer)}, ` +
    "it should be a number of milliseconds, 0 or more";
  throw typeof answer === "number" ? new RangeError(message) : new TypeError(message);
}
