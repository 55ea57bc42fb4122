import { Admission, DBResourceProviders, Demand } from "../../mod.ts";

// Without options the bound comes from SLUICE_DATABASE_MAX_CONCURRENT; where that is not set either, there is no provider.
const orders = DBResourceProviders.ofProcess.registerDefault({ name: "orders", maxConcurrent: 2 })!;
const admission = new Admission().start();

let out = 0;
const job = async () => {
  const busy = ++out; // Takes a connection of the host's own pool.
  await Promise.resolve();
  out--; // Gives it back.
  return busy;
};
const jobs = Array.from({ length: 6 }, () => admission.run(new Demand().add(orders.admission), job));
console.log(orders.admission.limiterName, Math.max(...await Promise.all(jobs)), "at most");
