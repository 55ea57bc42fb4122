// As much of the platform's module as the examples need; a project of its own has @cloudflare/workers-types.

/** An object that all requests of all isolates share; its methods are called over RPC. */
export declare abstract class DurableObject<Env = unknown> {
  constructor(state: unknown, env: Env);
}

/** What is passed over RPC by reference. */
export declare abstract class RpcTarget {
  constructor();
}
