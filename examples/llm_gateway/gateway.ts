/** A gateway as a process of its own. `GET /waits` tells how long requests stood in its line. */
import { childSetup, tellParent } from "./child_process.ts";
import { type GatewayOptions, makeGateway } from "./gateway_app.ts";
import { minuteClock, REAL_MINUTE_MS } from "./minute_clock.ts";
import { makePlainGateway } from "./plain_app.ts";
import { serveApp } from "./serve.ts";

/** What a gateway is to know. */
export interface GatewaySetup
  extends Pick<GatewayOptions, "providerUrl" | "key" | "model" | "quota" | "share" | "timeLimitMs"> {
  readonly minuteMs: number;
  /** With Sluice, or without. */
  readonly isAdmitted: boolean;
}

/** What `GET /waits` answers. */
export interface Waits {
  /** Of each request that was granted, in wall ms. */
  readonly waitsMs: readonly number[];
}

if (import.meta.main) {
  const { minuteMs, isAdmitted, ...setup } = childSetup<GatewaySetup>();
  const clock = minuteClock(minuteMs);
  const waitsMs: number[] = [];
  const app = isAdmitted
    ? makeGateway({
      ...setup,
      clock,
      events({ type, limiterName, waitMs }) {
        const isGrant = type === "GRANTED_IMMEDIATE" || type === "GRANTED_FROM_HOLD";
        if (isGrant && limiterName === setup.model) waitsMs.push((waitMs * minuteMs) / REAL_MINUTE_MS);
      },
    }).app
    : makePlainGateway({ ...setup, clock });
  app.get("/waits", (c) => c.json({ waitsMs } satisfies Waits));
  tellParent((await serveApp(app)).url);
}
