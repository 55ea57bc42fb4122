// A limit that all isolates share: a Durable Object has the Admission, and lends its grants out over RPC.

import {
  Admission,
  AdmissionError,
  CountingGate,
  Demand,
  type Grant,
  setKernelModule,
  TokenBucketRateLimiter,
} from "../../workers.ts";
import kernel from "@sluice/admission/kernel.wasm";
import { DurableObject, RpcTarget } from "cloudflare:workers";

setKernelModule(kernel);

/** A grant that is lent. The platform disposes of it when its borrower does, and when the borrower's request ends. */
class Lease extends RpcTarget {
  readonly #grant: Grant;

  constructor(grant: Grant) {
    super();
    this.#grant = grant;
  }

  [Symbol.dispose](): void {
    this.#grant.release();
  }
}

/** Answers as long as the request that made it lives. */
export class Presence extends RpcTarget {
  isHere(): boolean {
    return true;
  }
}

/** A lease, or why there is none: an error would lose its fields on its way. */
export type Answer = { lease: Lease } | { lease: null; code: string; retryAfterMs: number | null };

/** One object for one limit. Its calls share one context, so it needs no clock of its own. */
export class Limit extends DurableObject {
  readonly #gpt = new TokenBucketRateLimiter("gpt", { tpm: 600_000, rpm: 600 });
  readonly #upstream = new CountingGate("upstream", 6);
  readonly #admission = new Admission({ maxQueue: 1_000 }).start();

  async admit(tokens: number, timeoutMs: number, caller: Presence): Promise<Answer> {
    const demand = new Demand().add(this.#gpt, tokens).add(this.#upstream);
    try {
      const grant = await this.#admission.admit(demand, { timeoutMs });
      // Whoever left while it waited used nothing: everything goes back, the tokens too.
      if (grant.wallWaitMs > 0 && !(await isHere(caller))) grant.rollback();
      return { lease: new Lease(grant) };
    } catch (error) {
      if (!(error instanceof AdmissionError)) throw error;
      const { retryAfterMs = null } = error as { retryAfterMs?: number | null };
      return { lease: null, code: error.code, retryAfterMs };
    }
  }
}

async function isHere(caller: Presence): Promise<boolean> {
  try {
    return await caller.isHere();
  } catch {
    return false;
  }
}
