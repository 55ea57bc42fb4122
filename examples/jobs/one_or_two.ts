import { Admission, DatabaseGate, Demand, HttpConnectionGate } from "../../mod.ts";
import { ManualClock } from "../../testing/mod.ts";

const clock = new ManualClock();
const admission = new Admission({ clock, memory: null }).start();
const http = new HttpConnectionGate(8);
const orders = new DatabaseGate("orders", 2);

const takes = (ms: number) => new Promise<void>((done) => void clock.setTimer(ms, done));
const askModel = () => takes(1_000);
const store = () => takes(10);

/** The connection is held while the model thinks. */
function inOneDemand(): Promise<void> {
  return admission.run(new Demand().add(http).add(orders), () => askModel().then(store));
}

/** The connection is held while something is stored. */
async function inTwoDemands(): Promise<void> {
  await admission.run(new Demand().add(http), askModel);
  await admission.run(new Demand().add(orders), store);
}

async function timed(job: () => Promise<void>): Promise<number> {
  const begunMs = clock.now();
  const ended = Promise.all(Array.from({ length: 8 }, job)).then(() => clock.now());
  await clock.advance(10_000);
  return await ended - begunMs;
}

console.log(`one demand: ${await timed(inOneDemand)} ms, two: ${await timed(inTwoDemands)} ms`);
