import { Admission, Demand, ModelGate } from "../../mod.ts";

const judge = new ModelGate({ id: "judge-large", maxConcurrent: 1 });
const admission = new Admission().start();

using call = await admission.admit(new Demand().add(judge));
console.log(judge.limiterName, judge.status.summary(), call.isEmpty);
