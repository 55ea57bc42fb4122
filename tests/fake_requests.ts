// Requests as Workers have them, on any runtime: a timer belongs to the request that set it and dies with it, what a request
// awaits goes on in that request, and time is moved by the test.

import { AsyncLocalStorage } from "node:async_hooks";

/** One request; timers set while it runs are its own. */
export interface FakeRequest {
  isGone: boolean;
}

interface FakeTimer {
  readonly request: FakeRequest;
  readonly atMs: number;
  readonly fn: () => void;
}

/** The platform's clock outside of requests. */
const NO_TIME = 0;
/** Any instant of 2026 that is not on a whole second. */
const START_MS = 1_790_000_000_123;

/** Stands in for the platform's timers and clock between `install` and `restore`. */
export class FakeRequests {
  readonly #running = new AsyncLocalStorage<FakeRequest>();
  readonly #timers = new Set<FakeTimer>();
  readonly #real = { setTimeout, clearTimeout, queueMicrotask, setImmediate, now: performance.now };
  /** What callbacks threw. */
  readonly faults: unknown[] = [];
  nowMs: number = START_MS;

  install(): void {
    const clear = (timer: unknown): void => void this.#timers.delete(timer as FakeTimer);
    const microtask = (fn: () => void): void => {
      Promise.resolve().then(fn).catch((fault) => this.faults.push(fault));
    };
    Object.assign(globalThis, {
      setTimeout: (fn: () => void, delayMs: number) => this.#set(fn, delayMs),
      clearTimeout: clear,
      queueMicrotask: microtask,
    });
    performance.now = () => this.#running.getStore() === undefined ? NO_TIME : this.nowMs;
  }

  restore(): void {
    const { setTimeout, clearTimeout, queueMicrotask, now } = this.#real;
    Object.assign(globalThis, { setTimeout, clearTimeout, queueMicrotask });
    performance.now = now;
  }

  /** How many timers are armed in requests that live. */
  get pendingTimers(): number {
    return [...this.#timers].filter(({ request }) => !request.isGone).length;
  }

  /** Begins a request with what it does. */
  begin<T>(work: () => T): { request: FakeRequest; result: T } {
    const request: FakeRequest = { isGone: false };
    return { request, result: this.within(request, work) };
  }

  /** Does something in a request. */
  within<T>(request: FakeRequest, work: () => T): T {
    return this.#running.run(request, work);
  }

  /** Fires what becomes due, in order, each timer at its instant. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await this.#settle();
    for (let next = this.#next(); next !== null && next.atMs <= untilMs; next = this.#next()) {
      this.#timers.delete(next);
      this.nowMs = Math.max(this.nowMs, next.atMs);
      this.within(next.request, next.fn);
      await this.#settle();
    }
    this.nowMs = untilMs;
  }

  #set(fn: () => void, delayMs: number): FakeTimer {
    const request = this.#running.getStore();
    if (request === undefined) throw new Error("Disallowed operation called within global scope");
    const timer = { request, atMs: this.nowMs + delayMs, fn };
    this.#timers.add(timer);
    return timer;
  }

  #next(): FakeTimer | null {
    let next: FakeTimer | null = null;
    for (const timer of this.#timers) {
      if (!timer.request.isGone && (next === null || timer.atMs < next.atMs)) next = timer;
    }
    return next;
  }

  #settle(): Promise<void> {
    return new Promise((resolve) => void this.#real.setImmediate(resolve));
  }
}
