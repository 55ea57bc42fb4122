import { type AdmissionError, CancellationError } from "./errors.ts";
import type { Monitor } from "./monitor.ts";

const told = new WeakSet<Monitor>();

/** Tells the logger, once, that somebody waits for an Admission that was never started: nobody in its line would ever go. */
export function tellUnstarted(monitor: Monitor): void {
  if (told.has(monitor)) return;
  told.add(monitor);
  monitor.step(() =>
    monitor.logger.warn(
      "Somebody waits for an Admission that was never started, start() it: until then its line does not move",
    )
  );
}

/** What `start` throws at the end: who was only stopped has a way on. */
export function startRefusal(end: AdmissionError): AdmissionError {
  if (end.code !== "stopped") return end;
  return new CancellationError(
    "stopped",
    "Cannot start this Admission: it was stopped, make a new Admission",
  );
}
