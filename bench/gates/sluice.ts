import { Admission, CountingGate, Demand, type Grant } from "../../mod.ts";
import type { Gate, GateMaker } from "./gate.ts";

/** One CountingGate behind an Admission without a memory account. */
export const sluice: GateMaker = { open, noAbort: null, noTry: null, longestLine: Infinity };

// deno-lint-ignore require-await
async function open(): Promise<Gate> {
  const admission = new Admission({ memory: null }).start();
  const demand = new Demand().add(new CountingGate("gate", 1));
  let held: Grant | null = null;
  return {
    async pairs(count) {
      for (let i = 0; i < count; i++) admission.release(await admission.admit(demand));
    },
    once: async () => admission.release(await admission.admit(demand)),
    park: (signal) => signal === undefined ? admission.admit(demand) : admission.admit(demand, { signal }),
    join: (onTurn) =>
      void admission.admit(demand).then((grant) => {
        held = grant;
        onTurn();
      }),
    end: () => admission.release(held!),
    tryPairs(count) {
      for (let i = 0; i < count; i++) admission.release(admission.tryAdmit(demand)!);
    },
  };
}
