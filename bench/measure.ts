/** One thing to measure: runs its body `count` times and answers how long one took, in ns. */
export type Body = (count: number) => Promise<void> | void;

/** Median of what was measured, in ns each, and the spread. */
export interface Figure {
  name: string;
  medianNs: number;
  leastNs: number;
  mostNs: number;
}

/**
 * Measures several bodies in turn, A B C A B C, so that a machine whose speed drifts slows all of them alike. The first round
 * warms up and is not counted.
 */
export async function measure(
  bodies: ReadonlyMap<string, Body>,
  count: number,
  rounds = 7,
): Promise<Figure[]> {
  const taken = new Map<string, number[]>([...bodies.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, body] of bodies) {
      const startMs = performance.now();
      await body(count);
      const ns = (performance.now() - startMs) / count * 1e6;
      if (round > 0) taken.get(name)!.push(ns);
    }
  }
  return [...taken].map(([name, all]) => {
    const sorted = all.sort((a, b) => a - b);
    return { name, medianNs: sorted[sorted.length >> 1]!, leastNs: sorted[0]!, mostNs: sorted.at(-1)! };
  });
}

/** Prints figures as a table, each as a ratio to the first as well. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title}`);
  const first = figures[0]!.medianNs;
  for (const { name, medianNs, leastNs, mostNs } of figures) {
    const spread = `${show(leastNs)} to ${show(mostNs)}`;
    console.log(
      `  ${name.padEnd(44)} ${show(medianNs).padStart(9)}  ${
        (medianNs / first).toFixed(2).padStart(6)
      }x  (${spread})`,
    );
  }
}

function show(ns: number): string {
  if (ns < 1_000) return `${ns.toFixed(1)} ns`;
  if (ns < 1_000_000) return `${(ns / 1_000).toFixed(2)} us`;
  return `${(ns / 1_000_000).toFixed(2)} ms`;
}
