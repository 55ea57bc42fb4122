import type { CountingGate } from "./counting_gate.ts";
import { keeping } from "./native.ts";
import type { ElasticWindowRateLimiter } from "./elastic_window.ts";
import type { TokenBucketRateLimiter } from "./token_bucket.ts";
import { InvalidStateError, KeysFullError } from "../errors.ts";
import { show } from "../invariant.ts";
import { type Weak, weakly } from "../weak.ts";
import { NAMED_BY_GRANT, NAMED_BY_WAITER } from "../../assembly/layout.ts";

/** A kind of account that can be kept by key. */
export type KeyedAccount = CountingGate | TokenBucketRateLimiter | ElasticWindowRateLimiter;

/** Accounts that have a place with a keyed limiter. They can have one only. */
const kept = new WeakSet<object>();

/** Whether an account has a place with a keyed limiter. */
export function isKept(account: KeyedAccount): boolean {
  return kept.has(account);
}

/** Most places that one new key looks at when the table is full. */
export const LOOKS_WHEN_FULL = 16;

/** Where one key's account stands: held (`account`), or only remembered for as long as somebody else holds it (`resting`). */
interface Place<K, A> {
  readonly key: K;
  account: A | null;
  resting: Weak<A> | null;
  /** Whether it was asked for since it was last looked at. */
  wasAsked: boolean;
}

/**
 * The accounts of a keyed limiter, at most so many. A hand goes round the places, a few at each call. An account at rest (as
 * if just made, nobody waiting) that was not asked for since the last round is held no more: as long as a demand, a grant or
 * the user holds it the key still leads to it, and its next use makes the table hold it again. Once it is collected, its place
 * is free. When no place is free for a new key, one at rest that no open grant names is given up at once.
 */
export class KeyTable<K, A extends KeyedAccount> {
  readonly #name: string;
  readonly #maxKeys: number;
  readonly #places = new Map<K, Place<K, A>>();
  /** It goes on over what is added and deleted meanwhile, and passes each gap once: a new iterator would pass all of them. */
  #hand: Iterator<Place<K, A>> | null = null;
  #isClosed = false;

  constructor(name: string, maxKeys: number) {
    this.#name = name;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#places.size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The accounts that are held, in the order of their keys' places. */
  *held(): Generator<A> {
    for (const { account } of this.#places.values()) if (account !== null) yield account;
  }

  /** The account of a key, held from now on; null when there is none that can be used. */
  find(key: K): A | null {
    const place = this.#places.get(key);
    if (place === undefined) return null;
    const account = place.account ?? place.resting?.deref();
    if (account === undefined || !keeping.isUsable(account)) {
      this.#remove(place);
      return null;
    }
    place.wasAsked = true;
    if (place.account === null) hold(place, account);
    return account;
  }

  /** Puts an account in a place for a key that has none; `hasRoom` was true just now. */
  add(key: K, account: A): void {
    kept.add(account);
    const place: Place<K, A> = { key, account, resting: null, wasAsked: true };
    hold(place, account);
    this.#places.set(key, place);
  }

  /** Whether there is a place for one more key. Gives one up if need be and can be. */
  hasRoom(): boolean {
    if (this.#places.size < this.#maxKeys) return true;
    const place = this.#spare();
    if (place !== null) this.#giveUp(place);
    return place !== null;
  }

  /** Moves the hand over so many places. */
  look(places: number): void {
    for (let i = 0; i < places; i++) {
      const place = this.#next();
      if (place === null) return;
      if (place.account === null) {
        if (place.resting?.deref() === undefined) this.#remove(place);
      } else if (place.wasAsked) {
        place.wasAsked = false;
      } else if (isDone(place.account)) {
        this.#rest(place, place.account);
      }
    }
  }

  /** Disposes every account. */
  close(): void {
    this.#isClosed = true;
    for (const { account, resting } of this.#places.values()) (account ?? resting?.deref())?.dispose();
    this.#places.clear();
    this.#hand = null;
  }

  /** Why nothing is answered any more. */
  closed(): InvalidStateError {
    return new InvalidStateError(
      `Cannot use the keys of ${show(this.#name)}: it was disposed, make a new KeyedRateLimiter`,
    );
  }

  /** Why a new key has no account. */
  full(): KeysFullError {
    const most = this.#maxKeys;
    return new KeysFullError(
      `Cannot make an account for one more key: ${
        show(this.#name)
      } has ${most} of at most ${most} keys in use; try again later`,
      this.#facts,
    );
  }

  /** A place at rest, of the next few; one that nobody asked for lately if there is one. */
  #spare(): Place<K, A> | null {
    let spare: Place<K, A> | null = null;
    for (let i = 0; i < LOOKS_WHEN_FULL; i++) {
      const place = this.#next();
      if (place === null) return null;
      const { account, wasAsked } = place;
      place.wasAsked = false;
      if (account === null) {
        if (isFree(place.resting?.deref())) return place;
      } else if (isDone(account)) {
        if (!isFree(account)) this.#rest(place, account);
        else if (!wasAsked) return place;
        else spare ??= place;
      }
    }
    return spare;
  }

  #rest(place: Place<K, A>, account: A): void {
    place.account = null;
    place.resting = weakly(account);
    this.#watch(place.key, account);
  }

  /** Frees a place whose account is at rest. Whoever holds the account still may go on with it if there is room then. */
  #giveUp(place: Place<K, A>): void {
    const account = place.account ?? place.resting?.deref();
    this.#remove(place);
    if (account === undefined || !keeping.isUsable(account)) return;
    keeping.letGo(account);
    this.#watch(place.key, account);
  }

  #remove(place: Place<K, A>): void {
    const account = place.account ?? place.resting?.deref();
    if (account !== undefined) kept.delete(account);
    this.#places.delete(place.key);
  }

  #watch(key: K, account: A): void {
    keeping.watch(account, (isAsked) => this.#used(key, { account, isAsked }));
  }

  /** An account that is not held is about to be used by somebody who held it. Of one key, no two may be taken from. */
  #used(key: K, { account, isAsked }: { account: A; isAsked: boolean }): void {
    const place = this.#places.get(key);
    if (place?.resting?.deref() === account) {
      place.wasAsked = true;
      hold(place, account);
    } else if (!this.#isClosed && place === undefined && this.hasRoom()) {
      this.add(key, account);
    } else if (isAsked) {
      throw this.#isClosed ? this.closed() : this.#givenUp(account);
    }
  }

  #givenUp(account: A): KeysFullError {
    const text = `its key was forgotten for another one, because ${
      show(this.#name)
    } keeps at most ${this.#maxKeys}; ask accountFor(key) again`;
    return new KeysFullError(`Cannot use ${show(account.limiterName)}: ${text}`, this.#facts);
  }

  get #facts(): { limiter: string; maxKeys: number } {
    return { limiter: this.#name, maxKeys: this.#maxKeys };
  }

  /** The next place of the round; null when there is none at all. */
  #next(): Place<K, A> | null {
    for (let round = 0; round < 2; round++) {
      this.#hand ??= this.#places.values();
      const step = this.#hand.next();
      if (!step.done) return step.value;
      this.#hand = null;
    }
    return null;
  }
}

function hold<K, A extends KeyedAccount>(place: Place<K, A>, account: A): void {
  place.account = account;
  place.resting = null;
  keeping.watch(account, null);
}

/** Whether an account at rest can be given up: a grant that is settled later has to find it. */
function isFree(account: KeyedAccount | undefined): boolean {
  return account === undefined || (keeping.namedBy(account) & NAMED_BY_GRANT) === 0;
}

/** Whether nothing would be lost with the account. One whose kernel trapped, or that its user disposed, is no use to anyone. */
function isDone(account: KeyedAccount): boolean {
  if (!keeping.isUsable(account)) return true;
  return (keeping.namedBy(account) & NAMED_BY_WAITER) === 0 && keeping.isLikeNew(account);
}
