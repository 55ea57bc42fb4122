/** A value for a message of an adapter: short, one line, and safe for every kind of value. */
export function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return showFunction(value);
  if (typeof value !== "object" || value === null) return String(value);
  return `an object of class ${value.constructor?.name || "(none)"}`;
}

/** Only the prototype of a class cannot be replaced. A static member may stand where its name was. */
function showFunction(value: { readonly name: unknown }): string {
  const isClass = Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
  const name = typeof value.name === "string" && value.name !== "" ? value.name : "(anonymous)";
  return `${isClass ? "the class" : "function"} ${name}`;
}
