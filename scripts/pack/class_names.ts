/**
 * The names of classes in a bundle. esbuild writes a class that speaks of itself as `var Cost = class _Cost {`, and its `name`,
 * which stands in messages and in consoles, is then `_Cost`. Its option `keepNames` would name every function anew each time
 * that it is made, on the fast path too.
 */

/** The text of a bundle in which each such class has the name of its variable; inside, that is the same class. */
export function withClassNames(text: string): string {
  const names = [...text.matchAll(/^(?:var|let|const) ([\w$]+) = class _\1\b/gm)].map(([, name = ""]) =>
    name
  );
  return names.reduce((renamed, name) => renamed.replaceAll(new RegExp(`\\b_${name}\\b`, "g"), name), text);
}

/** What exports a module whose classes and functions are called otherwise: for example `Cost is called _Cost`. */
export function misnamed(module: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(module).flatMap(([name, value]) =>
    typeof value === "function" && value.name !== name ? [`${name} is called ${value.name}`] : []
  );
}
