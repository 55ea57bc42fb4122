import { CountingGate, Demand, TokenBucketRateLimiter } from "../../../mod.ts";
import type { Scenario } from "../scenario.ts";

/** Jobs that wait for tokens hold no place, and the oldest of them is not overtaken. */
export const hostage: Scenario = {
  name: "hostage",
  title: "who waits for tokens holds no HTTP place; others pass with what the head leaves",
  async play(stage) {
    const gpt = stage.open(
      new TokenBucketRateLimiter("gpt", { tpm: 60_000, rpm: 600, clock: stage.clock }),
    );
    const http = stage.open(new CountingGate("http", 3));
    await stage.arrives("essay", new Demand().add(gpt, 60_000).add(http));
    await stage.arrives("chat", new Demand().add(gpt, 500).add(http));
    await stage.arrives("page", new Demand().add(http));
    await stage.arrives("feed", new Demand().add(http));
    await stage.until(200);
    await stage.arrives("note", new Demand().add(gpt, 100));
    await stage.releases("page");
    await stage.until(700);
  },
};
