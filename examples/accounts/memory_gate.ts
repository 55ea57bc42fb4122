import { Admission, CountingGate, Demand, MemoryPressureGate } from "../../mod.ts";

let heap = 0.97; // Left out, the reader is the runtime's own heap.
const memory = new MemoryPressureGate({ reader: () => heap });
const admission = new Admission({ memory }).start();
const demand = new Demand().add(new CountingGate("slot", 4));

console.log(admission.tryAdmit(demand) === null, memory.statusIndicator);
heap = 0.6;
console.log(admission.tryAdmit(demand) === null, memory.status.zone);
