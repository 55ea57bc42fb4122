/** What it takes to run one kind of server, as data and commands. */

/** Where one server lives. */
export interface Place {
  /** Everything it writes is in here, its socket included. */
  readonly folder: string;
  /** On 127.0.0.1 only. */
  readonly port: number;
  /** Of its one user, `sluice`. */
  readonly password: string;
}

/** One kind of server. */
export interface Recipe {
  /** Its name, for messages. */
  readonly name: string;
  /** The Debian package that has it. */
  readonly debianPackage: string;
  readonly isInstalled: boolean;
  /** System users it may run as when root starts it, the best first. */
  readonly users: readonly string[];
  /** What it writes into its log when it takes connections. */
  readonly readyLine: string;
  /** What it writes when it cannot start. */
  readonly failure: RegExp;
  /** The signals that end it: in order, and as a crash would. */
  readonly signals: { readonly stop: string; readonly crash: string };
  /** Files that must be there first: name in the folder -> content. */
  files(place: Place): Readonly<Record<string, string>>;
  /** The command that makes its data. */
  prepare(place: Place): readonly string[];
  /** The command that serves, in the foreground. */
  serve(place: Place): readonly string[];
  /** What clients connect with. */
  url(place: Place): string;
}

/** Name of the user and of the database. */
export const NAME = "sluice";
