import process from "node:process";
import { Admission, CancellationError, CountingGate, Demand } from "../../mod.ts";

const GRACE_MS = 5_000; // Less than what the platform waits between SIGTERM and SIGKILL: 30 s on Kubernetes, 10 s on Docker.

const workers = new CountingGate("workers", 1);
const admission = new Admission().start();

async function job(name: string): Promise<void> {
  try {
    await admission.run(new Demand().add(workers), () => new Promise((done) => setTimeout(done, 300)));
    console.log(name, "is done");
  } catch (error) {
    if (!(error instanceof CancellationError)) throw error;
    console.log(name, error.code); // Give it back to whoever sent it.
  }
}

/** What is running ends, what waits is refused. Answers whether everything ended in time. */
async function stop(): Promise<boolean> {
  admission.stop();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), GRACE_MS));
  const isDone = await Promise.race([admission.drain().then(() => true), tooLate]);
  clearTimeout(timer);
  return isDone;
}

const jobs = ["first", "second"].map(job);
process.once("SIGTERM", async () => {
  console.log("stopped in time:", await stop());
  await Promise.all(jobs);
});
process.kill(process.pid, "SIGTERM"); // As the platform would.
await new Promise((resolve) => setTimeout(resolve, 600)); // The server would go on until here.
