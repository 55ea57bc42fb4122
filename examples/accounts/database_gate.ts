import { Admission, DatabaseGate, Demand } from "../../mod.ts";

const orders = new DatabaseGate("orders", 16); // At most what the pool has.
const admission = new Admission().start();

await admission.run(new Demand().add(orders), () => {
  console.log(orders.limiterName, orders.status.summary());
});
