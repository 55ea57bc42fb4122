import { Demand, TokenBucketRateLimiter } from "../../../mod.ts";
import type { Scenario } from "../scenario.ts";

/** The instant of a metered wait is computed, and computed again when something changes it. */
export const meter: Scenario = {
  name: "meter",
  title: "a wait for tokens is an instant; a refund and a 429 move it, a time limit ends it",
  async play(stage) {
    const gpt = stage.open(
      new TokenBucketRateLimiter("gpt", { tpm: 60_000, rpm: 600, clock: stage.clock }),
    );
    await stage.arrives("essay", new Demand().add(gpt, 60_000));
    await stage.arrives("chat", new Demand().add(gpt, 3_000));
    await stage.arrives("note", new Demand().add(gpt, 600), { timeoutMs: 1_200 });
    await stage.until(1_000);
    await stage.frees("essay used 58500 of its 60000 tokens and settles", () => {
      stage.grantOf("essay").settle(gpt, 58_500);
    });
    await stage.shrinks("the provider answers 429 to somebody, the bucket gives way", () => gpt.record429());
    await stage.until(2_000);
  },
};
