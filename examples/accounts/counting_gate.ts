import { Admission, CountingGate, Demand } from "../../mod.ts";

const renderers = new CountingGate("renderers", 2);
const admission = new Admission().start();

async function render(page: string): Promise<string> {
  return await admission.run(new Demand().add(renderers), () => Promise.resolve(`${page} is drawn`));
}

console.log(await Promise.all(["one", "two", "three"].map(render)));
renderers.setCapacity(4); // In place: waiters are looked at again at once.
