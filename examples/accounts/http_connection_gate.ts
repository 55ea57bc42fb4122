import { Admission, Demand, HttpConnectionGate } from "../../mod.ts";

const http = new HttpConnectionGate(64);
const admission = new Admission().start();

await admission.run(new Demand().add(http), async () => {
  for (const call of ["first", "second"]) await Promise.resolve(call); // One permit, however many calls.
  console.log(http.limiterName, http.status.summary());
});
