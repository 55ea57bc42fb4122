// Watches that grants are released once.

import { Grant } from "../../mod.ts";

/** What was seen of releases so far. */
export interface ReleaseWatch {
  /** Releases of grants that were released already. */
  readonly doubles: number;
  stop(): void;
}

/** Counts releases of grants that were released already, until it is told to stop. */
export function watchReleases(): ReleaseWatch {
  const { release } = Grant.prototype;
  let doubles = 0;
  Grant.prototype.release = function (this: Grant) {
    if (this.isSettled) doubles++;
    release.call(this);
  };
  return {
    get doubles() {
      return doubles;
    },
    stop: () => void (Grant.prototype.release = release),
  };
}
