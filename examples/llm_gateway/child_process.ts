import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { currentRuntime } from "../replay/runtimes.ts";

/** A program of this folder that runs as a process of its own, and listens. */
export interface Child {
  readonly url: string;
  /** Ends it. */
  stop(): Promise<void>;
}

/** Starts a program of this folder on the same runtime, with what it is to know. It ends at the latest when this process does. */
export async function startChild(program: string, setup: object): Promise<Child> {
  const script = fileURLToPath(new URL(program, import.meta.url));
  const flags = currentRuntime() === "deno" ? ["run", "-A", "--no-check"] : ["run"];
  const child = spawn(process.execPath, [...flags, script, JSON.stringify(setup)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    child.once("close", (code) => reject(new Error(`${program} ended early, with status ${code}`)));
  });
  return {
    url,
    stop() {
      child.stdin.end();
      return ended;
    },
  };
}

/** In the child: what it is to know. */
export function childSetup<T>(): T {
  return JSON.parse(process.argv[2] ?? "{}") as T;
}

/** In the child: tells where it listens, and ends when the parent wants it to or is no more. */
export function tellParent(url: string): void {
  process.stdin.resume();
  for (const event of ["end", "close"]) process.stdin.once(event, () => process.exit(0));
  process.stdout.write(`${url}\n`);
}
