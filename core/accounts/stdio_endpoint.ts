import { checkedNumber } from "../checked_number.ts";
import { InvalidStateError } from "../errors.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";

/** A server that is started as a subprocess and spoken to over its standard input and output. */
export interface STDIOEndpointFields {
  /** The program. */
  readonly command: string;
  /** Its arguments, in order; none when left out. */
  readonly args?: readonly string[];
  /** What is set in its environment, in any order; nothing when left out. */
  readonly env?: Readonly<Record<string, string>>;
  /** The logical name, for the account's; null or left out for an endpoint that no account is asked of. */
  readonly name?: string | null;
  /** Calls at a time, a whole number from 1 to 2^31 - 1; null or left out for the pool's default. */
  readonly maxConcurrent?: number | null;
}

const FIELDS: OptionNames<STDIOEndpointFields> = {
  command: true,
  args: true,
  env: true,
  name: true,
  maxConcurrent: true,
};

/** One such endpoint. Immutable. Two of the same command, arguments and environment are the same endpoint. */
export class STDIOEndpoint implements Required<STDIOEndpointFields> {
  /** The program. */
  readonly command: string;
  /** Its arguments, in order. Frozen. */
  readonly args: readonly string[];
  /** What is set in its environment; it may hold secrets. Frozen. */
  readonly env: Readonly<Record<string, string>>;
  /** The logical name, for the account's; null for an endpoint that no account is asked of. */
  readonly name: string | null;
  /** Calls at a time; null for the pool's default. */
  readonly maxConcurrent: number | null;
  /** For messages: the command line and, where there is an environment, a short hash of it. */
  readonly id: string;
  /** What makes it this endpoint and no other; it may hold secrets of the environment. */
  readonly key: string;

  /**
   * An endpoint of these fields; arrays and objects are copied.
   *
   * @throws TypeError or RangeError naming the field, its value and what would do.
   */
  constructor(fields: STDIOEndpointFields) {
    const what = "Cannot make an STDIOEndpoint:";
    checkOptionNames(what, fields, FIELDS);
    const { command, args = [], env = {}, name = null, maxConcurrent = null } = fields;
    if (typeof command !== "string" || command === "") {
      throw new TypeError(`${what} command is ${show(command)}, it should be a non-empty string`);
    }
    if (!Array.isArray(args) || !args.every(isString)) {
      throw new TypeError(`${what} args is ${show(args)}, it should be an array of strings`);
    }
    if (typeof env !== "object" || env === null || !Object.values(env).every(isString)) {
      throw new TypeError(`${what} env is ${show(env)}, it should be an object whose values are strings`);
    }
    if (name !== null && (!isString(name) || name === "")) {
      throw new TypeError(`${what} name is ${show(name)}, it should be a non-empty string or null`);
    }
    if (maxConcurrent !== null) {
      checkedNumber(`${what} maxConcurrent`, maxConcurrent, { least: 1, most: 2 ** 31 - 1 });
    }
    this.command = command;
    this.args = Object.freeze([...args]);
    this.env = Object.freeze({ ...env });
    this.name = name;
    this.maxConcurrent = maxConcurrent;
    const variables = Object.entries(env).sort(([left], [right]) => left < right ? -1 : 1);
    this.key = JSON.stringify([command, args, variables]);
    const hash = variables.length === 0 ? "" : `#${shortHash(JSON.stringify(variables))}`;
    this.id = [command, ...args].join(" ") + hash;
    Object.freeze(this);
  }

  /** `mcp:<logical name>`. @throws InvalidStateError for an endpoint without a logical name. */
  get limiterName(): string {
    if (this.name !== null) return `mcp:${this.name}`;
    throw new InvalidStateError(
      `Cannot name the account of endpoint ${show(this.id)}: it has no logical name, it should be given one`,
    );
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** FNV-1a, 32 bits, over UTF-16 units, in eight hexadecimal digits. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
