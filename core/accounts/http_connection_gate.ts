import { CountingGate, type CountingGateOptions } from "./counting_gate.ts";

/** Connections of the HTTP pool when nobody says otherwise. */
export const DEFAULT_POOL_SIZE = 1000;

/**
 * The places in a process's HTTP pool. A job takes one, whatever its number of calls. Named `http`. Make one for each pool,
 * no wider than the pool, and share it.
 */
export class HttpConnectionGate extends CountingGate {
  /**
   * A gate for one pool, no place taken.
   *
   * @param poolSize connections, a whole number from 1 to 2^31 - 1; 1000 when left out.
   * @throws TypeError or RangeError when it, or the clock, is not as said.
   */
  constructor(poolSize: number = DEFAULT_POOL_SIZE, options: CountingGateOptions = {}) {
    super("http", poolSize, options);
  }
}
