/**
 * Something the person at the terminal can put right: a bad option, a file that cannot be read or written. Its
 * message is printed as it stands, without a stack trace, and the exit status is 1.
 */
export class UserError extends Error {
  override readonly name = "UserError";
}

/**
 * Text from a file or a command line, fit for a terminal: in quotes, cut after 60 characters, and with control
 * characters escaped so that a strange file cannot move the cursor.
 */
export function quoted(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 57)}...` : text;
  return JSON.stringify(short).replace(/[\u007f-\u009f\u2028\u2029]/g, "\ufffd");
}

/** The code of a system error (`ENOENT`, `EACCES`), or its text where it has none. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? (code || String(error));
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EISDIR: "it is a directory, it should be a file",
  ENOENT: "there is no such file",
  ENOSPC: "no space left on the disk",
  ENOTDIR: "a part of the path is not a directory",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
};
