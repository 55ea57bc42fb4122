/** Whoever leaves when a signal aborts. It is the signal's listener itself: nothing is made for one that nobody shares. */
export interface SignalListener {
  handleEvent(): void;
  leave(reason: unknown): void;
}

/** Several who share one signal. Runtimes warn at the eleventh listener, so the first one's serves them all. */
class Sharers {
  readonly registered: SignalListener;
  readonly all: Set<SignalListener>;

  constructor(registered: SignalListener, second: SignalListener) {
    this.registered = registered;
    this.all = new Set([registered, second]);
  }
}

const listening = new WeakMap<AbortSignal, SignalListener | Sharers>();
const ONCE: AddEventListenerOptions = Object.freeze({ once: true });

/** Lets a listener leave when the signal aborts. However many share the signal, it carries one listener. */
export function listenTo(signal: AbortSignal, listener: SignalListener): void {
  const known = listening.get(signal);
  if (known === undefined) {
    signal.addEventListener("abort", listener, ONCE);
    listening.set(signal, listener);
  } else if (known instanceof Sharers) known.all.add(listener);
  else listening.set(signal, new Sharers(known, listener));
}

/** The signal told the listener that it aborted: it leaves, and with it all who share the signal, oldest first. */
export function hearAbort(signal: AbortSignal, listener: SignalListener): void {
  const known = listening.get(signal);
  if (!(known instanceof Sharers)) return listener.leave(signal.reason);
  for (const each of [...known.all]) each.leave(signal.reason);
}

/** Takes a listener back; the signal's own goes with the last of those who share it. */
export function stopListening(signal: AbortSignal, listener: SignalListener): void {
  const known = listening.get(signal);
  if (known instanceof Sharers) {
    if (!known.all.delete(listener) || known.all.size > 0) return;
    listening.delete(signal);
    signal.removeEventListener("abort", known.registered);
  } else if (known === listener) {
    listening.delete(signal);
    signal.removeEventListener("abort", listener);
  }
}
