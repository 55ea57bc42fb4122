import { type Call, callAll } from "./callers.ts";
import { type Child, startChild } from "./child_process.ts";
import type { KeyStatus } from "./fake_provider.ts";
import type { GatewaySetup, Waits } from "./gateway.ts";
import { REAL_MINUTE_MS } from "./minute_clock.ts";
import type { Options } from "./options.ts";
import type { ProviderSetup } from "./provider.ts";
import type { Quota } from "./sliding_window.ts";

/** A run with Sluice, or without. */
export interface Side {
  readonly calls: readonly Call[];
  /** In the line of the gateways, in wall ms; empty without a line. */
  readonly waitsMs: readonly number[];
  /** 429s of the provider. */
  readonly refused: number;
  /** Tokens of the requests that the provider let in within the time of the side, from the first one on, by its own books. */
  readonly tokens: number;
  /** Tokens that it granted in that time. */
  readonly granted: number;
  /** The most tokens of any minute, as a part of the quota. */
  readonly fullest: number;
  /** By the provider's books, from first to last. */
  readonly tokensInAll: number;
}

/** The scene of a run. */
export interface Scene {
  /** What a minute of the quotas lasts, in wall ms. */
  readonly minuteMs: number;
  readonly quota: Quota;
  /** Time of each side, in wall ms. */
  readonly sideMs: number;
}

const MODEL = "gpt-5-mini";
/** Tokens and requests per second of wall time: what one process each, on two cores, can carry with ease. */
const TOKENS_PER_SECOND = 60_000;
const REQUESTS_PER_SECOND = 60;
/** Minutes of the quota on each side. */
const MINUTES = 2;
const SIDES = 2;
/** Those in flight and a line behind them, also while some are late. */
const CALLERS = 60;

/** The scene of a run of so many seconds. */
export function sceneOf({ seconds }: Pick<Options, "seconds">): Scene {
  const sideMs = (seconds * 1000) / SIDES;
  const minuteMs = sideMs / MINUTES;
  const quota = {
    tpm: (TOKENS_PER_SECOND * minuteMs) / 1000,
    rpm: Math.floor((REQUESTS_PER_SECOND * minuteMs) / 1000),
  };
  return { minuteMs, quota, sideMs };
}

/** Runs a side: gateways against the provider, with a key of their own, and callers in front of them. */
export async function runSide(scene: Scene, options: Options, isAdmitted: boolean): Promise<Side> {
  const key = isAdmitted ? "sluice" : "plain";
  const { minuteMs, quota } = scene;
  const children: Child[] = [];
  try {
    const setup: ProviderSetup = { minuteMs, quota, serviceMs: [30, 120], usedShare: [0.7, 1] };
    const provider = await startChild("provider.ts", setup);
    children.push(provider);
    const share = options.share / 100 / options.gateways;
    const gateway: GatewaySetup = {
      ...{ providerUrl: provider.url, key, model: MODEL, quota, share, timeLimitMs: 60_000 },
      ...{ minuteMs, isAdmitted },
    };
    const gateways: Child[] = [];
    for (let index = 0; index < options.gateways; index++) {
      gateways.push(await startChild("gateway.ts", gateway));
      children.push(...gateways.slice(-1));
    }
    return await measure(scene, { isAdmitted, provider, gateways, key });
  } finally {
    await Promise.all(children.map((child) => child.stop()));
  }
}

interface Setting {
  readonly isAdmitted: boolean;
  readonly provider: Child;
  readonly gateways: readonly Child[];
  readonly key: string;
}

async function measure(scene: Scene, { isAdmitted, provider, gateways, key }: Setting): Promise<Side> {
  const status = (query = "") => read<KeyStatus>(`${provider.url}/status${query}`, key);
  const calls = await callAll({
    urls: gateways.map(({ url }) => url),
    model: MODEL,
    count: CALLERS,
    durationMs: scene.sideMs,
    refusedPauseMs: scene.minuteMs / 60,
    seed: 3,
  });
  const inAll = await status();
  const toMs = (inAll.firstMs ?? 0) + MINUTES * REAL_MINUTE_MS;
  const asked = await status(`?from=0&to=${toMs}`);
  const waits = isAdmitted
    ? await Promise.all(gateways.map(({ url }) => read<Waits>(`${url}/waits`, key)))
    : [];
  return {
    calls,
    waitsMs: waits.flatMap(({ waitsMs }) => waitsMs),
    refused: inAll.refused,
    tokens: asked.tokens,
    granted: (scene.quota.tpm * scene.sideMs) / scene.minuteMs,
    fullest: inAll.fullestTokens / scene.quota.tpm,
    tokensInAll: inAll.tokens,
  };
}

async function read<T>(url: string, key: string): Promise<T> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  return await response.json() as T;
}
