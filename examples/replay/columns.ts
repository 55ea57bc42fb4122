/** A plot's horizontal axis: equal columns from instant 0 to the end. */
export interface Axis {
  /** The end of the last column; above 0. */
  readonly endTicks: number;
  readonly columnCount: number;
}

/** What one curve shows, per column. */
export interface Columns {
  /** The average over time. */
  readonly mean: Float64Array;
  /** The largest value. */
  readonly peak: Float64Array;
}

/** Gathers a quantity that stands still over stretches of time into columns. */
export class ColumnSampler implements Columns {
  readonly mean: Float64Array;
  readonly peak: Float64Array;
  readonly #axis: Axis;

  constructor(axis: Axis) {
    this.#axis = axis;
    this.mean = new Float64Array(axis.columnCount);
    this.peak = new Float64Array(axis.columnCount);
  }

  /** Adds a stretch over which the quantity has one value. What lies beyond the axis is left out. */
  add(fromTicks: number, toTicks: number, value: number): void {
    const width = this.#axis.endTicks / this.#axis.columnCount;
    const lastIndex = Math.min(this.#axis.columnCount - 1, Math.floor(toTicks / width));
    for (let index = Math.floor(fromTicks / width); index <= lastIndex; index++) {
      const share = (Math.min(toTicks, (index + 1) * width) - Math.max(fromTicks, index * width)) / width;
      if (share <= 0) continue;
      this.mean[index] = (this.mean[index] ?? 0) + share * value;
      this.peak[index] = Math.max(this.peak[index] ?? 0, value);
    }
  }
}
