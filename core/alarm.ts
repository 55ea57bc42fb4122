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
   * An account that names a passed instant and still does not fit, or wakes whenever it is asked, is looked at again at once,
   * then after 1 ms, 2 ms, 4 ms and so on: it may be a hair short by rounding, and it may as well be wrong for ever.
   * `laterTicks` is the earliest instant that has not passed: nobody else's is missed meanwhile.
   */
  set(atTicks: number, laterTicks: number): boolean {
    if (atTicks === this.#atTicks && this.#timer !== null) return false;
    this.clear();
    if (atTicks === Infinity) {
      this.#patienceMs = 0;
      return false;
    }
    const isNews = this.#patienceMs === 0;
    if (atTicks === -Infinity && isNews) return this.#lookAtOnce();
    const nowMs = this.#clock.now();
    let atMs = toMs(atTicks);
    if (atMs > nowMs) {
      this.#patienceMs = 0;
    } else {
      if (isNews) return this.#lookAtOnce();
      atMs = Math.min(nowMs + this.#patienceMs, toMs(laterTicks));
      this.#patienceMs = Math.min(2 * this.#patienceMs, MAX_TIMER_MS);
    }
    this.#atTicks = atTicks;
    this.#timer = this.#clock.setTimer(Math.min(atMs - nowMs, MAX_TIMER_MS), this.#fired);
    return false;
  }

  /** The instant it is set to, in ms, or null. */
  get atMs(): number | null {
    return Number.isFinite(this.#atTicks) ? toMs(this.#atTicks) : null;
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

  #lookAtOnce(): boolean {
    this.#patienceMs = 1;
    return true;
  }

  readonly #fired = (): void => {
    this.#timer = null;
    this.#atTicks = Infinity;
    this.#fire();
  };
}
