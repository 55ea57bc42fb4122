/**
 * Loads a peer from bench/node_modules. Its name is a variable, so that the project type-checks where no peer is installed;
 * `T` says the little of it that the bench uses.
 */
export async function loadPeer<T>(name: string): Promise<T> {
  return await import(name) as T;
}
