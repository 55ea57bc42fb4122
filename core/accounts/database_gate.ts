import { CountingGate, type CountingGateOptions } from "./counting_gate.ts";
import { show } from "../invariant.ts";

/**
 * How many connections of one datasource may be out at a time: one permit each, from admission to settlement. Named
 * `db:<datasource>`. Make one for each datasource and share it.
 */
export class DatabaseGate extends CountingGate {
  /**
   * A gate for one datasource, nothing out.
   *
   * @param datasource any non-empty string.
   * @param capacity connections, a whole number from 1 to 2^31 - 1; at most what the pool has.
   * @throws TypeError or RangeError when one of them, or the clock, is not as said.
   */
  constructor(datasource: string, capacity: number, options: CountingGateOptions = {}) {
    super(`db:${checkedDatasource(datasource)}`, capacity, options);
  }
}

function checkedDatasource(datasource: string): string {
  if (typeof datasource === "string" && datasource !== "") return datasource;
  throw new TypeError(
    `Cannot make a DatabaseGate: datasource is ${show(datasource)}, it should be a non-empty string`,
  );
}
