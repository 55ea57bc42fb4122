/** As much of a WeakRef as is needed. */
export interface Weak<T> {
  deref(): T | undefined;
}

/** As much of a FinalizationRegistry as is needed. */
export type Registry<T> = Pick<FinalizationRegistry<T>, "register" | "unregister">;

/** Refers to an object without keeping it alive. Older workerd dates have no WeakRef: there it is kept alive. */
export function weakly<T extends object>(object: T): Weak<T> {
  return typeof WeakRef === "function" ? new WeakRef(object) : { deref: () => object };
}

/** Hears of collected objects. Without a FinalizationRegistry nothing is heard: records then stay until `dispose`. */
export function newRegistry<T>(collected: (held: T) => void): Registry<T> {
  if (typeof FinalizationRegistry === "function") return new FinalizationRegistry(collected);
  return { register: () => {}, unregister: () => false };
}
