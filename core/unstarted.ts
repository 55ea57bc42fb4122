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
