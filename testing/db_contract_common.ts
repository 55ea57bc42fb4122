import { Admission, DatabaseGate, type DBManagedResource, type DBResourceProvider, Demand } from "../mod.ts";
import { check, rejects, same, within } from "./checks.ts";
import type { DBContractSubject, SubjectCases } from "./db_contract.ts";

/** What a provider promises whether or not its handles hold a connection. */
export function commonCases<T, S extends DBContractSubject<T>>(
  cases: SubjectCases<S>,
  patienceMs: number,
): void {
  permitCases(cases, patienceMs);
  ownershipCase(cases);
}

function permitCases<T, S extends DBContractSubject<T>>({ it }: SubjectCases<S>, patienceMs: number): void {
  it("DB-01 has one name, and one gate db:<name> of the host's bound", async ({ provider }) => {
    const { admission } = provider;
    same(provider.name, "contract", "name");
    check(admission instanceof DatabaseGate, "admission should be a DatabaseGate");
    same(admission.limiterName, "db:contract", "admission.limiterName");
    same(admission.capacity, 2, "admission.capacity");
    const handle = await provider.acquire();
    await provider.close(handle);
    same(provider.admission, admission, "admission later");
    same(provider.name, "contract", "name later");
  });

  it("DB-02 acquire takes no permit and waits for none", async ({ provider }) => {
    const { admission } = provider;
    const unasked = await within(patienceMs, provider.acquire(), "acquire() without a grant");
    same(admission.currentInUse, 0, "permits in use after acquire()");
    await provider.close(unasked);
    const monitor = new Admission({ memory: null }).start();
    using _all = await monitor.admit(new Demand().add(admission, 2));
    const handle = await within(patienceMs, provider.acquire(), "acquire() under the last permit");
    same(admission.currentInUse, 2, "permits in use after acquire()");
    await provider.close(handle);
  });

  it("DB-02 a permit goes with its grant, not with the handle", async ({ provider }) => {
    const { admission } = provider;
    const monitor = new Admission({ memory: null }).start();
    const grant = await monitor.admit(new Demand().add(admission));
    const [first, second] = [await provider.acquire(), await provider.acquire()];
    await provider.close(first);
    same(admission.currentInUse, 1, "permits in use after close()");
    provider.abort(second);
    same(admission.currentInUse, 1, "permits in use after abort()");
    grant.release();
    same(admission.currentInUse, 0, "permits in use after the release");
    await provider.close(second).catch(() => {});
    same(admission.currentInUse, 0, "permits in use after a close() that came later");
  });
}

function ownershipCase<T, S extends DBContractSubject<T>>({ it }: SubjectCases<S>): void {
  it("DB-06 every verb refuses what this provider did not make", async (subject, openAnother) => {
    const { provider } = subject;
    const other = await openAnother("contract");
    const [own, foreign] = [await provider.acquire(), await other.provider.acquire()];
    const active = await subject.activeConnections();
    const strangers: readonly [string, unknown][] = [
      ["another provider's handle", foreign],
      ["a copy of its own handle", { ...own }],
      ["an object", {}],
      ["null", null],
      ["undefined", undefined],
    ];
    for (const [what, stranger] of strangers) {
      for (const [verb, call] of verbsOf(provider)) {
        await rejects(() => call(stranger as DBManagedResource<T>), TypeError, `${verb}() of ${what}`);
      }
    }
    same(await subject.activeConnections(), active, "connections out after the refusals");
    await provider.begin(own);
    await provider.rollback(own);
    await provider.close(own);
    await other.provider.close(foreign);
  });
}

function verbsOf<T>(
  provider: DBResourceProvider<T>,
): readonly [string, (handle: DBManagedResource<T>) => unknown][] {
  return [
    ["begin", (handle) => provider.begin(handle)],
    ["commit", (handle) => provider.commit(handle)],
    ["awaitCompletion", (handle) => provider.awaitCompletion(handle)],
    ["rollback", (handle) => provider.rollback(handle)],
    ["close", (handle) => provider.close(handle)],
    ["abort", (handle) => provider.abort(handle)],
  ];
}
