/** Several things at once, so many at a time. */

/** Does `work` on each item, at most `width` at a time, in their order; gives the results in the order of the items. */
export async function sideBySide<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await work(items[index]!);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.floor(width)) }, worker));
  return results;
}
