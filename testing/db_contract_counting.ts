import { same, within } from "./checks.ts";
import type { DBCountingSubject, SubjectCases } from "./db_contract.ts";
import { fanOut } from "./db_fan_out.ts";

/** What a provider promises whose handles hold nothing. */
export function countingCases({ it }: SubjectCases<DBCountingSubject>, patienceMs: number): void {
  it("DB-25 its handle unwraps to null and checks nothing out, whatever is done with it", async (subject) => {
    const { provider } = subject;
    const handle = await provider.acquire(true);
    const verbs = ["begin", "begin", "commit", "commit", "rollback", "rollback", "close", "close"] as const;
    for (const verb of verbs) {
      await provider[verb](handle);
      same(handle.unwrap(), null, `unwrap() after ${verb}()`);
      same(await subject.activeConnections(), 0, `connections out after ${verb}()`);
    }
    provider.abort(handle);
    provider.abort(handle);
    await provider.close(handle);
    same(handle.unwrap(), null, "unwrap() after abort()");
    same(await subject.activeConnections(), 0, "connections out after abort()");
    same(await subject.committedRows(), 0, "rows");
  });

  it("DB-25 awaitCompletion never waits", async ({ provider }) => {
    const handle = await provider.acquire();
    await within(patienceMs, provider.awaitCompletion(handle), "awaitCompletion() of a fresh handle");
    await provider.begin(handle);
    await within(patienceMs, provider.awaitCompletion(handle), "awaitCompletion() after begin()");
    await provider.close(handle);
  });

  it("DB-13 DB-25 6 jobs on a bound of 2 never have more than 2 connections of the host's pool", async (subject) => {
    const { provider } = subject;
    await fanOut({
      admission: provider.admission,
      patienceMs,
      activeConnections: () => subject.activeConnections(),
      job: async (meet) => {
        const handle = await provider.acquire();
        await provider.begin(handle);
        await subject.useConnection(meet);
        await provider.commit(handle);
        await provider.awaitCompletion(handle);
        await provider.close(handle);
      },
    });
    same(await subject.committedRows(), 6, "rows that the jobs committed");
  });
}
