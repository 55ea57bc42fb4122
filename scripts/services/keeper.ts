/**
 * The keeper: a small shell between us and one server, which outlives us by as long as it takes to clean up.
 *
 * It reads verbs from a pipe that only we write to. However we end, also by SIGKILL, that pipe closes, and the keeper stops the
 * server at once and removes its folder. What a keeper leaves behind that was itself killed, the next start sweeps up.
 */
import { type ChildProcess, spawn } from "node:child_process";

/** What the keeper runs. */
export interface KeeperCommands {
  /** Removed at the end. */
  readonly folder: string;
  readonly prepare: readonly string[];
  readonly serve: readonly string[];
  readonly signals: { readonly stop: string; readonly crash: string };
}

/** What it can be told. */
export type Verb = "prepare" | "start" | "stop" | "crash";

/** A word that no shell takes apart. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function lineOf(words: readonly string[]): string {
  return words.map(quoted).join(" ");
}

/** The shell's program. A signal interrupts its reading, so that it ends as if the pipe had closed. */
function programOf({ folder, prepare, serve, signals }: KeeperCommands): string {
  return `
cd ${quoted(folder)} || exit 1
trap : INT TERM HUP
server=
end() { [ -z "$server" ] || { kill -s "$1" "$server" 2>/dev/null; wait "$server" 2>/dev/null; server=; }; }
while read -r verb; do
  case $verb in
    prepare) ${lineOf(prepare)} >>log 2>&1 </dev/null; echo "$?" ;;
    start) ${lineOf(serve)} >>log 2>&1 </dev/null & server=$!; echo "$server" >server.pid; echo 0 ;;
    stop) end ${signals.stop}; echo 0 ;;
    crash) end ${signals.crash}; echo 0 ;;
  esac
done
end ${signals.crash}
cd / && rm -rf ${quoted(folder)}
`;
}

/** A running keeper. */
export class Keeper {
  readonly #shell: ChildProcess;
  readonly #answers: ((status: number) => void)[] = [];
  readonly #ended: Promise<void>;

  constructor(commands: KeeperCommands) {
    this.#shell = spawn("/bin/sh", ["-c", programOf(commands)], { stdio: ["pipe", "pipe", "ignore"] });
    this.#shell.stdout?.on("data", (chunk) => {
      for (const line of String(chunk).split("\n")) if (line !== "") this.#answers.shift()?.(Number(line));
    });
    this.#ended = new Promise((resolve) => this.#shell.on("close", () => resolve()));
    void this.#ended.then(() => {
      for (const answer of this.#answers.splice(0)) answer(1);
    });
  }

  /** Tells it one thing and waits until that is done; the answer is the status of what it ran. */
  tell(verb: Verb): Promise<number> {
    return new Promise((resolve) => {
      this.#answers.push(resolve);
      this.#shell.stdin?.write(`${verb}\n`);
    });
  }

  /** Stops the server as a crash would, removes its folder, and ends. */
  async end(): Promise<void> {
    this.#shell.stdin?.end();
    await this.#ended;
  }
}
