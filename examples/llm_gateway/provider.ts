/** The provider as a process of its own, with its own clock. */
import { childSetup, tellParent } from "./child_process.ts";
import { FakeProvider, type ProviderOptions } from "./fake_provider.ts";
import { minuteClock } from "./minute_clock.ts";

/** What the provider is to know. */
export interface ProviderSetup extends Pick<ProviderOptions, "quota" | "serviceMs" | "usedShare"> {
  readonly minuteMs: number;
}

if (import.meta.main) {
  const { minuteMs, ...options } = childSetup<ProviderSetup>();
  const provider = new FakeProvider({ ...options, clock: minuteClock(minuteMs) });
  tellParent(await provider.listen());
}
