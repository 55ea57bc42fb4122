import { type Clock, MAX_TIMER_MS, type Timer, toMs } from "./clock.ts";

/** The one timer of an Admission: it fires at the earliest instant at which the clock alone may let somebody go. */
export class Alarm {
  readonly #clock: Clock;
  readonly #fire: () => void;
  #timer: Timer | null = null;
  #atTicks = Infinity;
  /** When an instant has passed already: look again at once (0), then after so many ms, doubled each time. */
  #patienceMs = 0;

  constructor(clock: Clock, fire: () => void) {
    this.#clock = clock;
    this.#fire = fire;
  }

  /**
   * Sets the alarm; Infinity clears it. A long wait fires early and is set again; whoever is called just looks. Answers
   * whether the instant has passed and it is time to look again at once.
   *
   * An account that names a passed instant and still does not fit is looked at again at once, then after 1 ms, 2 ms, 4 ms and
   * so on: it may be a hair short by rounding, and it may as well be wrong for ever.
   */
  set(atTicks: number): boolean {
    if (atTicks === this.#atTicks && this.#timer !== null) return false;
    this.clear();
    if (atTicks === Infinity) return false;
    let delayMs = toMs(atTicks) - this.#clock.now();
    if (delayMs > 0) this.#patienceMs = 0;
    else {
      delayMs = this.#patienceMs;
      this.#patienceMs = delayMs === 0 ? 1 : Math.min(2 * delayMs, MAX_TIMER_MS);
      if (delayMs === 0) return true;
    }
    this.#atTicks = atTicks;
    this.#timer = this.#clock.setTimer(Math.min(delayMs, MAX_TIMER_MS), this.#fired);
    return false;
  }

  /** The instant it is set to, in ms, or null. */
  get atMs(): number | null {
    return this.#atTicks === Infinity ? null : toMs(this.#atTicks);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#atTicks = Infinity;
  }

  /** Somebody left: the next passed instant is news. */
  moved(): void {
    this.#patienceMs = 0;
  }

  readonly #fired = (): void => {
    this.#timer = null;
    this.#atTicks = Infinity;
    this.#fire();
  };
}
