import { show } from "./invariant.ts";

/** The names of an object of options, all of them: the compiler counts. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true };

/**
 * Refuses what is no object of options, and an option that nobody reads: `maxqueue` would be no limit at all. Only names of its own
 * are refused, so an object of a class may hold options; one that has none of them is something else, such as a signal. Nothing is
 * allocated when all is well.
 *
 * @param what begins a message: `Cannot make an Admission:`.
 * @throws TypeError naming the option and those there are.
 */
export function checkOptionNames(
  what: string,
  options: unknown,
  names: Readonly<Record<string, true>>,
): void {
  if (typeof options !== "object" || options === null) throw noOptions(what, options, names);
  let isOne = false;
  for (const name in options) {
    if (names[name] === true) isOne = true;
    else if (Object.hasOwn(options, name)) throw unknownOption(what, name, names);
  }
  if (!isOne && !isPlain(options) && !Object.keys(names).some((name) => name in options)) {
    throw noOptions(what, options, names);
  }
}

/** Whether it is `{}`, also that of another realm, and no object of a class. */
function isPlain(options: object): boolean {
  const parent: unknown = Object.getPrototypeOf(options);
  return parent === null || Object.getPrototypeOf(parent) === null;
}

function unknownOption(what: string, name: string, names: object): TypeError {
  return new TypeError(`${what} there is no option ${show(name)}, the options are ${listed(names)}`);
}

function noOptions(what: string, options: unknown, names: object): TypeError {
  return new TypeError(
    `${what} options are ${show(options)}, they should be an object of options: ${listed(names)}`,
  );
}

function listed(names: object): string {
  return Object.keys(names).join(", ");
}
