import { checkedNumber } from "../checked_number.ts";
import { CountingDBResourceProvider } from "./counting_db_resource_provider.ts";
import type { DBResourceProvider } from "./db_resource_provider.ts";
import { environmentVariable } from "./environment.ts";
import { InvalidStateError } from "../errors.ts";
import { show } from "../invariant.ts";
import { checkOptionNames, type OptionNames } from "../option_names.ts";
import { MAX_CONCURRENT } from "./provider_gate.ts";

/** A class of providers, abstract or not. */
export type DBProviderClass<P extends DBResourceProvider<unknown>> = abstract new (...args: never[]) => P;

/** What the default provider is made of. What is left out is read from the environment. */
export interface DefaultDBProviderOptions {
  /** Any non-empty string; `SLUICE_DATABASE_NAME` when left out, and `default` when that is not set. */
  name?: string;
  /** A whole number from 1 to 2^31 - 1; `SLUICE_DATABASE_MAX_CONCURRENT` when left out. */
  maxConcurrent?: number;
  /** Stands for the variables of the process: the bindings of a worker, for example. */
  environment?: Readonly<Record<string, unknown>>;
}

const OPTIONS: OptionNames<DefaultDBProviderOptions> = { name: true, maxConcurrent: true, environment: true };

const NAME_VARIABLE = "SLUICE_DATABASE_NAME";
const BOUND_VARIABLE = "SLUICE_DATABASE_MAX_CONCURRENT";
const DEFAULT_NAME = "default";
const MEMBERS = ["acquire", "begin", "commit", "awaitCompletion", "rollback", "close", "abort"] as const;

/** The providers of a program, each under its name. */
export class DBResourceProviders {
  /** The one that the parts of a program share. */
  static readonly ofProcess: DBResourceProviders = new DBResourceProviders();
  readonly #providers = new Map<string, DBResourceProvider<unknown>>();

  /**
   * Registers a provider under its name. The same one again changes nothing.
   *
   * @throws InvalidStateError when another has that name; that one stays. TypeError when it is no provider.
   */
  register(provider: DBResourceProvider<unknown>): void {
    const name = checkedProvider(provider);
    const known = this.#providers.get(name) ?? provider;
    if (known !== provider) {
      throw new InvalidStateError(
        `Cannot register a provider as ${show(name)}: another one has that name, unregister it first`,
      );
    }
    this.#providers.set(name, provider);
  }

  /**
   * The provider of that name, which must be of that class when one is given.
   *
   * @throws InvalidStateError when there is none, naming those there are, or when it is of another class, naming both.
   * TypeError when the class is none.
   */
  get(name: string): DBResourceProvider<unknown>;
  /** The same, as one of that class. */
  get<P extends DBResourceProvider<unknown>>(name: string, type: DBProviderClass<P>): P;
  get<P extends DBResourceProvider<unknown>>(
    name: string,
    type?: DBProviderClass<P>,
  ): DBResourceProvider<unknown> {
    if (type !== undefined && typeof type !== "function") {
      throw new TypeError(
        `Cannot get provider ${show(name)}: type is ${show(type)}, it should be a class of providers`,
      );
    }
    const provider = this.#providers.get(name);
    if (provider === undefined) {
      throw new InvalidStateError(`Cannot get provider ${show(name)}: ${this.#registered()}`);
    }
    if (type === undefined || provider instanceof type) return provider;
    throw new InvalidStateError(
      `Cannot get provider ${show(name)} as ${type.name}: it is ${show(provider)}, ask for it as that class`,
    );
  }

  /** The registered names, sorted by their code units. */
  get names(): string[] {
    return [...this.#providers.keys()].sort();
  }

  /** Takes a provider out, if it is this one that is registered; answers whether it was. */
  unregister(provider: DBResourceProvider<unknown>): boolean {
    for (const [name, known] of this.#providers) {
      if (known === provider) return this.#providers.delete(name);
    }
    return false;
  }

  /**
   * Registers a CountingDBResourceProvider when a bound is set, by option or by variable, and answers it; else registers
   * nothing and answers null. The bound is the host's to say: no pool is looked at. An option goes before its variable; a
   * variable that is empty counts as not set, as do all where the runtime shows none (on Deno without `--allow-env`).
   *
   * @throws TypeError or RangeError naming the option or the variable, its value and what would do; InvalidStateError when the
   * name is taken, as by an earlier call.
   */
  registerDefault(options: DefaultDBProviderOptions = {}): CountingDBResourceProvider | null {
    const { environment = null } = checkedOptions(options);
    const read = (variable: string) => variableOf(variable, environment);
    const bound = options.maxConcurrent ?? boundOf(read(BOUND_VARIABLE));
    if (bound === null) return null;
    const provider = new CountingDBResourceProvider(
      options.name ?? read(NAME_VARIABLE) ?? DEFAULT_NAME,
      bound,
    );
    this.register(provider);
    return provider;
  }

  #registered(): string {
    const { names } = this;
    if (names.length === 0) return "none is registered, register it first";
    return `it is not registered, it should be one of ${names.map(show).join(", ")}`;
  }
}

/** Its name. @throws TypeError when it is no provider. */
function checkedProvider(provider: DBResourceProvider<unknown>): string {
  const what = "Cannot register a provider: it is";
  if (typeof provider !== "object" || provider === null) {
    throw new TypeError(`${what} ${show(provider)}, it should be a DBResourceProvider`);
  }
  const missing = MEMBERS.find((verb) => typeof provider[verb] !== "function");
  if (missing !== undefined) {
    throw new TypeError(`${what} ${show(provider)} without ${missing}(), it should be a DBResourceProvider`);
  }
  const { name, admission } = provider;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`${what} named ${show(name)}, its name should be a non-empty string`);
  }
  if (typeof admission?.tryTake === "function") return name;
  throw new TypeError(
    `${what} ${show(name)} whose admission is ${show(admission)}, that should be a DatabaseGate`,
  );
}

/** @throws TypeError or RangeError naming the option, its value and what would do. */
function checkedOptions(options: DefaultDBProviderOptions): DefaultDBProviderOptions {
  const what = "Cannot register the default provider:";
  checkOptionNames(what, options, OPTIONS);
  const { name, maxConcurrent, environment } = options;
  if (name !== undefined && (typeof name !== "string" || name === "")) {
    throw new TypeError(`${what} name is ${show(name)}, it should be a non-empty string`);
  }
  if (maxConcurrent !== undefined) {
    checkedNumber(`${what} maxConcurrent`, maxConcurrent, { least: 1, most: MAX_CONCURRENT });
  }
  if (environment !== undefined && (typeof environment !== "object" || environment === null)) {
    throw new TypeError(`${what} environment is ${show(environment)}, it should be an object`);
  }
  return options;
}

/** A variable that is set to something, else undefined. */
function variableOf(
  variable: string,
  environment: Readonly<Record<string, unknown>> | null,
): string | undefined {
  const value = environment === null ? environmentVariable(variable) : environment[variable];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw new TypeError(
    `Cannot register the default provider: ${variable} is ${show(value)}, it should be a string`,
  );
}

/** @throws RangeError when it is no whole number in range. */
function boundOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const bound = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (bound >= 1 && bound <= MAX_CONCURRENT) return bound;
  throw new RangeError(
    `Cannot register the default provider: ${BOUND_VARIABLE} is ${
      show(text)
    }, it should be a whole number from 1 to ${MAX_CONCURRENT}, or not set`,
  );
}
