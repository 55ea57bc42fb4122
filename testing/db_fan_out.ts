import { Admission, type DatabaseGate, Demand } from "../mod.ts";
import { same, within } from "./checks.ts";

const JOBS = 6;
const BOUND = 2;

/** What the jobs of a fan-out share. */
export interface FanOut {
  readonly admission: DatabaseGate;
  readonly patienceMs: number;
  activeConnections(): number | Promise<number>;
  /** One job under its permit. `meet` is to be awaited while its connection is out. */
  job(meet: () => Promise<void>): Promise<void>;
}

/**
 * 6 jobs through an Admission, on a bound of 2. Each waits, with its connection out, for the other one of its pair, so that
 * two are out at the same time for certain; more never are.
 */
export async function fanOut({ admission, patienceMs, activeConnections, job }: FanOut): Promise<void> {
  const monitor = new Admission({ memory: null }).start();
  let most = 0;
  const look = async () => void (most = Math.max(most, await activeConnections()));
  const jobs = Array.from({ length: JOBS / BOUND }, () => meetingOf(BOUND)).flatMap((meet) =>
    [meet, meet].map((both) =>
      monitor.run(new Demand().add(admission), async () => {
        await look();
        await job(async () => {
          await look();
          await both();
          await look();
        });
        await look();
      })
    )
  );
  try {
    await within(patienceMs, Promise.all(jobs), `${JOBS} jobs on a bound of ${BOUND}`);
  } finally {
    monitor.stop();
  }
  same(most, BOUND, "most connections out at a time");
  same(await activeConnections(), 0, "connections out after the last job");
  same(admission.currentInUse, 0, "permits in use after the last job");
}

/** Resolves for each of so many when all have come. */
function meetingOf(count: number): () => Promise<void> {
  let missing = count;
  let open = () => {};
  const all = new Promise<void>((resolve) => open = resolve);
  return () => {
    if (--missing === 0) open();
    return all;
  };
}
