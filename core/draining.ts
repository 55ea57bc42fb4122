/** Grants that are out, and who waits for the last of them. */
export class Draining {
  #unsettled = 0;
  readonly #waiting: (() => void)[] = [];

  granted(): void {
    this.#unsettled++;
  }

  settled(queueSize: number): void {
    this.#unsettled--;
    this.look(queueSize);
  }

  /** Resolves at the first look at which nobody is in line and no grant is out. */
  wait(queueSize: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.look(queueSize);
    });
  }

  look(queueSize: number): void {
    if (this.#waiting.length === 0 || queueSize > 0 || this.#unsettled > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
