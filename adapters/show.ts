/** A value for a message of an adapter: short, one line, and safe for every kind of value. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `function ${value.name || "(anonymous)"}`;
  if (typeof value !== "object" || value === null) return String(value);
  return `an object of class ${value.constructor?.name || "(none)"}`;
}
