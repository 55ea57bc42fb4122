/**
 * The well-known symbols of `using`, for engines that lack them: put in place of `Symbol.dispose` in the bundle.
 *
 * Without a stand-in a class would get a method named "undefined". `Symbol.for` is the stand-in that compilers use in
 * the code they make from `using`, so both sides meet. Read through Reflect, as the plain member would be replaced too.
 */

/** `Symbol.dispose`, or its stand-in. */
export const symbolDispose: symbol = Reflect.get(Symbol, "dispose") ?? Symbol.for("Symbol.dispose");
/** `Symbol.asyncDispose`, or its stand-in. */
export const symbolAsyncDispose: symbol = Reflect.get(Symbol, "asyncDispose") ??
  Symbol.for("Symbol.asyncDispose");
