// A provider whose driver does what a test says, hook by hook, and tells what it was asked.

import { AbstractDBResourceProvider } from "../mod.ts";

/** The hooks of the base class that talk to a driver. */
export type Hook = "checkOut" | "beginOn" | "commitOn" | "rollbackOn" | "restore" | "handBack" | "sever";

/** What jobs get; it says nothing. */
export interface Connection {
  readonly number: number;
}

/** Hooks succeed unless `script` says otherwise: what it throws or answers is the hook's. */
export class ScriptedProvider extends AbstractDBResourceProvider<Connection> {
  /** What was asked, in order; `handBack` with whether the connection is sound. */
  readonly log: string[] = [];
  script: Partial<Record<Hook, () => void | Promise<void>>> = {};
  /** Called when the base says that the job's work ends. */
  endOfWork: () => void = () => {};
  #made = 0;

  constructor() {
    super("scripted", 2);
  }

  protected override async checkOut(readOnly: boolean): Promise<Connection> {
    await this.#play("checkOut", readOnly ? " read-only" : "");
    return { number: ++this.#made };
  }

  protected override stackOf(connection: Connection): Connection {
    return connection;
  }

  protected override beginOn(): void | Promise<void> {
    return this.#play("beginOn");
  }

  protected override commitOn(): void | Promise<void> {
    return this.#play("commitOn");
  }

  protected override rollbackOn(): void | Promise<void> {
    return this.#play("rollbackOn");
  }

  protected override endWork(): void {
    this.endOfWork();
  }

  protected override restore(): void | Promise<void> {
    return this.#play("restore");
  }

  protected override handBack(_connection: Connection, isSound: boolean): void | Promise<void> {
    return this.#play("handBack", isSound ? " sound" : " unsound");
  }

  protected override sever(): void | Promise<void> {
    return this.#play("sever");
  }

  #play(hook: Hook, detail: string = ""): void | Promise<void> {
    this.log.push(hook + detail);
    return this.script[hook]?.();
  }
}

/** A hook that never ends by itself. */
export function never(): Promise<void> {
  return new Promise(() => {});
}

/** A hook that fails, as drivers do. */
export function fails(message: string): () => void {
  return () => {
    throw new Error(message);
  };
}
