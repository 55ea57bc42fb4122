import { existsSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { systemReason, UserError } from "./user_error.ts";

/** A file to be written: where it is, and how the user wrote it. */
export interface OutputFile {
  readonly path: string;
  readonly shownAs: string;
}

/**
 * Looks, before any work is done, whether a file can be written there.
 * @throws UserError when its folder is missing or it is a folder itself.
 */
export function checkOutput({ path, shownAs }: OutputFile): void {
  const folder = dirname(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new UserError(`Cannot write ${shownAs}: there is no folder ${folder}.`);
  }
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw new UserError(`Cannot write ${shownAs}: it is a directory, it should be a file.`);
  }
}

/**
 * Writes a file whole or not at all: into a neighbour first, which then takes its name. What is no plain file (a pipe, a
 * terminal) is written in place, and a link is followed.
 * @throws UserError when it cannot be written; the file is then as it was.
 */
export function writeOutput({ path, shownAs }: OutputFile, text: string): void {
  const isNew = !existsSync(path);
  const target = isNew ? path : realpathSync(path);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    if (!isNew && !statSync(target).isFile()) return writeFileSync(target, text);
    writeFileSync(temporary, text);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new UserError(`Cannot write ${shownAs}: ${systemReason(error)}.`);
  }
}

/** Whether two paths lead to one file, whatever links lie between. */
export function isSameFile(one: string, other: string): boolean {
  return realPath(one) === realPath(other);
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
