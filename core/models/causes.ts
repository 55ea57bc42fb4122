/** How many causes are followed. A chain that leads back to itself ends there as well. */
export const MAX_CAUSES = 32;

/** An error and its causes, outermost first: at most `MAX_CAUSES`; nothing when it is no object. */
export function causesOf(error: unknown): object[] {
  const chain: object[] = [];
  let at = error;
  while (typeof at === "object" && at !== null && chain.length < MAX_CAUSES) {
    chain.push(at);
    at = fieldOf(at, "cause");
  }
  return chain;
}

/** Whether nothing is known to be behind an error. */
export function isLastCause(error: object): boolean {
  return causesOf(error).length === 1;
}

/** A member of whatever was thrown: undefined when there is none, or reading it throws. */
export function fieldOf(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/** The HTTP status of an error itself, as clients carry it, or 0 when it has none from 1 to 999. */
export function statusOf(error: unknown): number {
  const status = fieldOf(error, "statusCode") ?? fieldOf(error, "status") ??
    fieldOf(fieldOf(error, "$metadata"), "httpStatusCode") ?? fieldOf(fieldOf(error, "response"), "status");
  return typeof status === "number" && Number.isInteger(status) && status > 0 && status <= 999 ? status : 0;
}

/** Text from outside, cut to so many UTF-16 units; a cut one ends in three dots. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most - 3);
  // A character of two units is not cut in half.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}...`;
}
