/** A source of chance that can be repeated: whole state in one number, the same numbers on every runtime. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
}

/**
 * Mulberry32 (Tommy Ettinger, 2017, public domain): 32 bits of state, good enough to draw a trace, and made of integer
 * arithmetic only, so that Deno and Bun draw the same one.
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
    },
  };
}
