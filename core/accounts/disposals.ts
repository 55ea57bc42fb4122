let disposals = 0;

/** How often a built-in account was disposed, put to rest or let go in this process: while it stands still, records stand. */
export function disposalCount(): number {
  return disposals;
}

/** Makes every demand look again whether the records that it knows are still those of its accounts. */
export function noteDisposal(): void {
  disposals++;
}
