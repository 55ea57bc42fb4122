import { AbstractRateLimiter, type Admission, Demand, SemaphoreLimiterStatus } from "../../mod.ts";

/**
 * An account that never has room, so that nobody gets it and nothing is told of it. Admission takes its wake back from every account
 * when it closes (CAN-10, FLT-11): so this one hears of that.
 */
class ClosingBell extends AbstractRateLimiter<void> {
  readonly limiterName = "closing";
  readonly limiterCategory = "semaphore";
  readonly capacity = 0;
  readonly currentInUse = 0;
  readonly listeners: Set<() => void> = new Set();

  get status(): SemaphoreLimiterStatus {
    return new SemaphoreLimiterStatus(0, 0, 0);
  }

  fits(): boolean {
    return false;
  }

  tryTake(): boolean {
    return false;
  }

  give(): void {}

  earliestFit(): null {
    return null;
  }

  override onCapacityChange(wake: (() => void) | null): void {
    if (wake !== null) return;
    const all = [...this.listeners];
    this.listeners.clear();
    for (const listener of all) listener();
  }
}

/** One for each Admission, which holds its accounts weakly. */
const bells = new WeakMap<Admission, ClosingBell>();

/**
 * Calls `fn` once when an Admission closes, by `stop` or on a defect, at once when it has, with the error that its callers get from
 * then on. Answers a function that takes `fn` back. `fn` must not throw.
 */
export function onClose(admission: Admission, fn: (error: unknown) => void): () => void {
  try {
    const bell = bells.get(admission) ?? hung(admission);
    const listener = () => fn(errorOf(admission));
    admission.tryAdmit(new Demand())?.release();
    bell.listeners.add(listener);
    return () => void bell.listeners.delete(listener);
  } catch (error) {
    fn(error);
    return () => {};
  }
}

/** @throws the error that callers of a closed Admission get. */
function hung(admission: Admission): ClosingBell {
  const bell = new ClosingBell();
  admission.tryAdmit(new Demand().add(bell));
  bells.set(admission, bell);
  return bell;
}

function errorOf(admission: Admission): unknown {
  try {
    return admission.tryAdmit(new Demand());
  } catch (error) {
    return error;
  }
}
