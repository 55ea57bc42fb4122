import { CountingGate } from "./counting_gate.ts";
import { ElasticWindowRateLimiter } from "./elastic_window.ts";
import { isKept, type KeyedAccount, KeyTable } from "./key_table.ts";
import { keeping } from "./native.ts";
import { checkName } from "./native_checks.ts";
import { TokenBucketRateLimiter } from "./token_bucket.ts";
import { checkedNumber } from "../checked_number.ts";
import { CorrectableError } from "../errors.ts";
import { currentHost } from "../host.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

export type { KeyedAccount } from "./key_table.ts";

/** What tells clients, tenants or routes apart. Compared as a Map compares: 1 and "1" are two keys. */
export type LimiterKey = string | number;

/** Most characters of a key: a client that sends more is refused, and nothing of it is kept. */
export const MAX_KEY_CHARS = 256;

/** Most keys of one limiter; the kernel has room for four times as many accounts. */
const MOST_KEYS = 1_048_576;

/** Places that are looked at when a key is asked for, and when it is a new one. */
const LOOKS = 1;
const LOOKS_WHEN_NEW = 2;

/** How a keyed limiter is made. */
export interface KeyedRateLimiterOptions<A extends KeyedAccount = KeyedAccount> {
  /** Most keys that have an account at a time: a whole number from 1 to 1,048,576. Each takes about a kilobyte. */
  maxKeys: number;
  /**
   * What happens to a new key while all of these are in use: it is refused with a KeysFullError (the default), or it shares
   * one account with all others that come too late.
   */
  beyond?: "refuse" | "share";
  /** For `beyond: "share"`: the account that they share. Left out, it is the first such key's own, which names it. */
  overflow?: A;
}

const OPTIONS: OptionNames<KeyedRateLimiterOptions> = { maxKeys: true, beyond: true, overflow: true };

/**
 * One account for each key: a bucket for each tenant, a gate for each user, a window for each client. `add(keyed, key)` asks
 * for one unit of the key's account, `add(keyed, key, amount)` for more.
 *
 * Memory is bounded by `maxKeys`. A key whose account is at rest (a bucket full and without throttle, a gate with nothing in
 * use, a window without stamps and throttle, nobody waiting) is forgotten after a while, and nobody can tell: it would be
 * made again as it was. So `make` has to answer accounts that differ only by their key, and what is changed later is kept: an
 * account that was resized, reconfigured or given a wake stays. As long as a grant names a key, and is neither settled nor
 * collected, the key leads to the account that it took from.
 */
export class KeyedRateLimiter<K extends LimiterKey, A extends KeyedAccount = KeyedAccount>
  implements Disposable {
  /** For messages. */
  readonly name: string;
  /** Most keys that have an account at a time. */
  readonly maxKeys: number;
  readonly #make: (key: K) => A;
  readonly #table: KeyTable<K, A>;
  readonly #isShared: boolean;
  #overflow: A | null;

  /**
   * A limiter without keys. Their accounts are made when they are asked for.
   *
   * @param name for messages: any non-empty string.
   * @param make answers a new account for a key: a CountingGate, a TokenBucketRateLimiter or an ElasticWindowRateLimiter, or
   * one of a subclass with the same verbs. Its clock must be the Admission's.
   * @throws TypeError or RangeError naming the argument, its value and what would do.
   */
  constructor(name: string, make: (key: K) => A, options: KeyedRateLimiterOptions<A>) {
    const { maxKeys, beyond, overflow } = checkedOptions(name, make, options);
    this.name = name;
    this.maxKeys = maxKeys;
    this.#make = make;
    this.#table = new KeyTable(name, maxKeys);
    this.#isShared = beyond === "share";
    this.#overflow = overflow;
  }

  /** Keys that have an account now, those at rest that nobody has collected yet included; at most `maxKeys`. */
  get size(): number {
    return this.#table.size;
  }

  /** What keys share that came when all were in use; null when there is no such account (yet). */
  get overflow(): A | null {
    return this.#overflow;
  }

  /** Callers that the keys' accounts hold now, over all admissions; one that two of them hold counts twice. Asks every key. */
  get waiters(): number {
    const host = currentHost();
    let waiters = this.#overflow === null ? 0 : host.heldOn(this.#overflow);
    for (const account of this.#table.held()) waiters += host.heldOn(account);
    return waiters;
  }

  /**
   * Accounts of keys that are not known to be at rest, for `health` and `healthTable`: the oldest first, and the overflow
   * account before all.
   *
   * @param most how many at most, from 0; 100 when left out.
   */
  accounts(most = 100): A[] {
    const what = `Cannot list the accounts of ${show(this.name)}: most`;
    checkedNumber(what, most, { least: 0, most: Infinity, isWhole: false });
    const listed: A[] = [];
    for (const account of this.#all()) {
      if (listed.length >= most) break;
      listed.push(account);
    }
    return listed;
  }

  /**
   * The account of a key, made when there is none. Ask for it when it is needed rather than keep it. Looks at one or two other
   * keys, at 16 when all are in use, so that idle ones go without a timer and without a long look.
   *
   * @throws TypeError for a key that is no string and no number (undefined: nothing told who it is); CorrectableError for one
   * of more than 256 characters; KeysFullError for a new one while `maxKeys` others are in use, unless they share;
   * InvalidStateError after `dispose`; what `make` throws.
   */
  accountFor(key: K): A {
    checkKey(this.name, key);
    if (this.#table.isClosed) throw this.#table.closed();
    const known = this.#table.find(key);
    if (known === null) return this.#newAccount(copied(key));
    this.#table.look(LOOKS);
    return known;
  }

  /** Disposes the account of every key, and the overflow account unless it was given. Twice does nothing more. */
  dispose(): void {
    this.#table.close();
  }

  /** `dispose`, at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  #newAccount(key: K): A {
    if (!this.#table.hasRoom()) return this.#beyond(key);
    const account = this.#made(key);
    // `make` is the user's: it may have asked for keys itself, this one too.
    const known = this.#table.find(key);
    if (known !== null) return known;
    if (!this.#table.hasRoom()) return this.#beyond(key);
    this.#table.add(key, account);
    this.#table.look(LOOKS_WHEN_NEW);
    return account;
  }

  #beyond(key: K): A {
    if (!this.#isShared) throw this.#table.full();
    return this.#overflow ??= this.#made(key);
  }

  #made(key: K): A {
    const account = this.#make(key);
    const what = `Cannot limit key ${show(key)} of ${show(this.name)}: make answered`;
    checkAccount(what, account);
    if (!isKept(account) && account !== this.#overflow) return account;
    throw new TypeError(`${what} the account of another key, it should answer a new one for each key`);
  }

  *#all(): Generator<A> {
    if (this.#overflow !== null) yield this.#overflow;
    yield* this.#table.held();
  }
}

/** The same characters in a string of its own: V8 keeps a whole header alive for a slice of it. */
function copied<K extends LimiterKey>(key: K): K {
  return typeof key === "string" ? JSON.parse(JSON.stringify(key)) : key;
}

function checkKey(name: string, key: unknown): void {
  if (typeof key === "string") {
    if (key.length <= MAX_KEY_CHARS) return;
    throw new CorrectableError(
      `Cannot limit a key of ${
        show(name)
      }: it has ${key.length} characters, it should have at most ${MAX_KEY_CHARS}`,
    );
  }
  if (typeof key === "number" && !Number.isNaN(key)) return;
  throw new TypeError(
    `Cannot limit a key of ${show(name)}: it is ${
      show(key)
    }, it should be a string or a number that tells who asks`,
  );
}

function checkAccount(what: string, account: unknown): asserts account is KeyedAccount {
  const isKind = account instanceof CountingGate || account instanceof TokenBucketRateLimiter ||
    account instanceof ElasticWindowRateLimiter;
  if (!isKind) {
    throw new TypeError(`${what} ${show(account)}, it should be a gate, a token bucket or an elastic window`);
  }
  if (keeping.isNative(account)) return;
  throw new TypeError(`${what} ${show(account)}, which overrides a verb, it should leave them as they are`);
}

/** @throws TypeError or RangeError naming the argument, its value and what would do. */
function checkedOptions<A extends KeyedAccount>(
  name: string,
  make: unknown,
  options: KeyedRateLimiterOptions<A>,
): { maxKeys: number; beyond: "refuse" | "share"; overflow: A | null } {
  checkName("KeyedRateLimiter", name);
  const what = `Cannot make ${show(name)}:`;
  if (typeof make !== "function") {
    throw new TypeError(
      `${what} make is ${show(make)}, it should be a function that answers a key's account`,
    );
  }
  checkOptionNames(what, options, OPTIONS);
  const { beyond = "refuse", overflow = null } = options;
  const maxKeys = checkedNumber(`${what} maxKeys`, options.maxKeys, { least: 1, most: MOST_KEYS });
  if (beyond !== "refuse" && beyond !== "share") {
    throw new TypeError(`${what} beyond is ${show(beyond)}, it should be "refuse" or "share"`);
  }
  if (overflow !== null) checkAccount(`${what} overflow is`, overflow);
  if (overflow === null || beyond === "share") return { maxKeys, beyond, overflow };
  throw new TypeError(
    `${what} overflow is given and beyond is "refuse", beyond should be "share"`,
  );
}
