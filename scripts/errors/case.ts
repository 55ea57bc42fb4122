/** One way to meet an error: what the page says of it, and a small program that really meets it. */
import { AdmissionError, type Demand } from "../../mod.ts";

/** A case of the page. */
export interface ErrorCase {
  /** The class, by its name in mod.ts. */
  readonly type: string;
  /** What happened, a sentence without its full stop. */
  readonly when: string;
  /** What to do, whole sentences. */
  readonly remedy: string;
  /** The message with `<name>` for what differs; the example must fit it. */
  readonly template: string;
  /** Meets the error and answers it. */
  readonly provoke: () => unknown;
  /** The demand that was asked for, where a client's status depends on it. */
  readonly demand?: Demand;
}

/** What a function throws or rejects with. @throws Error when it does neither. */
export async function thrownBy(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error(`Cannot show an error: ${act} met none`);
}

/** The error of a case, which must be what the page is going to say. @throws Error when it is another. */
export async function errorOf({ type, template, provoke }: ErrorCase): Promise<Error> {
  const error = await provoke();
  if (!(error instanceof Error) || error.name !== type) {
    throw new Error(`Cannot show ${type}: "${template}" was to be met, it is ${error}`);
  }
  if (!patternOf(template).test(error.message)) {
    throw new Error(`Cannot show ${type}: "${error.message}" does not fit "${template}"`);
  }
  return error;
}

/** The code of an error of this library, or null. */
export function codeOf(error: Error): string | null {
  return error instanceof AdmissionError ? error.code : null;
}

/** What messages of a template look like. */
export function patternOf(template: string): RegExp {
  const parts = template.split(/<[^<>]+>/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "s");
}
