/** As much of a runtime's globals as reading a variable takes. */
export interface EnvironmentGlobals {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } | undefined;
  readonly Deno?: {
    readonly permissions?: { querySync?(of: { name: "env"; variable: string }): { state: string } };
  } | undefined;
}

/**
 * A variable of the process, or undefined: also on runtimes that have none (browsers, most workers), and on Deno without the
 * permission to read it. Deno is asked whether it may be read, because reading it would ask the user.
 * Source: https://docs.deno.com/api/deno/~/Deno.permissions
 */
export function environmentVariable(
  variable: string,
  globals: EnvironmentGlobals = globalThis as EnvironmentGlobals,
): string | undefined {
  try {
    const { Deno, process } = globals;
    const permission = Deno?.permissions?.querySync?.({ name: "env", variable });
    if (permission !== undefined && permission.state !== "granted") return undefined;
    return process?.env?.[variable];
  } catch {
    return undefined;
  }
}
