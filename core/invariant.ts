/** What our own code relies on does not hold: a defect of this library, never of its caller. */
export class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/**
 * States what must be true here.
 *
 * @throws InvariantError when it is not; nobody catches it inside, and the admission it happened in closes.
 */
export function invariant(holds: boolean, what: string): asserts holds {
  if (!holds) {
    throw new InvariantError(`Broken invariant: ${what}. This is a defect of the library; please report it.`);
  }
}

/** A value for a message: short, one line, and safe for every kind of value. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return showFunction(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return `an object of class ${value.constructor?.name || "(none)"}`;
}

/** Only the prototype of a class cannot be replaced. A static member may stand where its name was. */
function showFunction(value: { readonly name: unknown }): string {
  const isClass = Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
  const name = typeof value.name === "string" && value.name !== "" ? value.name : "(anonymous)";
  return `${isClass ? "the class" : "function"} ${name}`;
}
