/** Which test files share a process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./project.ts";

/** So many files share a process: more save less and less, and a last process that is long leaves a processor idle. */
const SIZE = 20;

/** The line of a file that needs a process to itself. */
const ALONE = /^\/\/ Runs alone: \S.*\.$/m;

/** The line of a file that `npm run ok` leaves to `npm test` and CI. */
const LEFT_OUT = /^\/\/ Left out of npm run ok: \S.*\.$/m;

function runsAlone(file: string): boolean {
  return ALONE.test(readFileSync(join(ROOT, file), "utf8"));
}

/** Whether a file says that `npm run ok` leaves it out. */
export function isLeftOut(file: string): boolean {
  return LEFT_OUT.test(readFileSync(join(ROOT, file), "utf8"));
}

/** The files in groups of one process each: first those that run alone; neighbours, which are alike, are dealt apart. */
export function planRuns(
  files: readonly string[],
  isAlone: (file: string) => boolean = runsAlone,
  size: number = SIZE,
): string[][] {
  const alone = files.filter(isAlone);
  const others = files.filter((file) => !alone.includes(file));
  const groups = Array.from({ length: Math.ceil(others.length / size) }, (): string[] => []);
  others.forEach((file, index) => groups[index % groups.length]!.push(file));
  return [...alone.map((file) => [file]), ...groups];
}
