/**
 * What the types of the API promise, held by the check `types`: nothing here runs. A line below `@ts-expect-error` must not
 * compile, and is an error when it does; `same` compares two types exactly.
 */

/** Whether two types are the same, `any` and optional members included: true or false, as a type. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Compiles only for `same<A, B>(true)` with A and B the same type. */
export function same<A, B>(_isSame: Same<A, B>): void {}
