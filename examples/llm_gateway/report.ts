import { grouped, percent } from "../replay/format.ts";
import { summariseWaits } from "../replay/waits.ts";
import type { Options } from "./options.ts";
import type { Scene, Side } from "./trial.ts";

/** Both sides of a run. */
export interface Sides {
  readonly sluice: Side;
  readonly plain: Side;
}

/** How much of what the gateways may take they may leave: what is in flight at the end, and the burst that they start without. */
const LEFT_OVER = 0.01;

/** What is about to run. */
export function headerText(scene: Scene, options: Options, runtime: string): string {
  const { minuteMs, quota, sideMs } = scene;
  const who = options.gateways === 1 ? "a gateway" : `${options.gateways} gateways`;
  return `${
    [
      `LLM gateway, on ${runtime}`,
      `  provider  ${grouped(quota.tpm)} tokens and ${
        grouped(quota.rpm)
      } requests in any minute, a process of its own`,
      `  clocks    a minute of the quota lasts ${seconds(minuteMs)}, so that there are windows to see`,
      `  sides     ${who} with ${options.share} % of the quota, and as many without Sluice, ${
        seconds(sideMs)
      } each`,
    ].join("\n")
  }\n`;
}

/** The results side by side. */
export function tableText({ sluice, plain }: Sides): string {
  const row = (label: string, value: (side: Side) => string) =>
    `${label.padEnd(44)}${value(sluice).padStart(14)}${value(plain).padStart(18)}`;
  const wait = (rank: "p50" | "p99") => ({ waitsMs }: Side) =>
    waitsMs.length === 0 ? "-" : grouped(summariseWaits(waitsMs)[rank]);
  return [
    `${" ".repeat(44)}${"Sluice".padStart(14)}${"without".padStart(18)}`,
    row("Calls", ({ calls }) => grouped(calls.length)),
    row("  answered", (side) => grouped(answered(side).length)),
    row("  refused to the caller", ({ calls }) => grouped(calls.filter(isRefused).length)),
    row("429s of the provider", ({ refused }) => grouped(refused)),
    row("Tokens used, of the quota", (side) => percent(achieved(side))),
    row("  fullest minute, reservations included", ({ fullest }) => percent(fullest)),
    row("Wait in line in ms: p50", wait("p50")),
    row("                    p99", wait("p99")),
    row("Time to the answer's head in ms: p50", (side) => grouped(answerTimes(side).p50)),
    row("                                 p99", (side) => grouped(answerTimes(side).p99)),
  ].map((line) => `${line.trimEnd()}\n`).join("");
}

/** The promises that a run with Sluice did not keep, a sentence each. */
export function brokenPromises(side: Side, { share }: Pick<Options, "share">): string[] {
  const { calls, refused, tokens, tokensInAll } = side;
  const broken: string[] = [];
  const floor = share / 100 - LEFT_OVER;
  if (refused > 0) broken.push(`the provider refused ${grouped(refused)} requests, it should be none`);
  const others = calls.length - answered(side).length;
  if (others > 0) broken.push(`${grouped(others)} callers got no answer, it should be none`);
  if (achieved(side) < floor) {
    const is = `${grouped(tokens)} tokens were used, ${percent(achieved(side))} of the quota`;
    broken.push(`${is}, it should be ${percent(floor)} or more`);
  }
  const told = calls.reduce((sum, call) => sum + call.tokens, 0);
  if (others === 0 && told !== tokensInAll) {
    broken.push(
      `callers were told of ${grouped(told)} tokens, the provider counted ${
        grouped(tokensInAll)
      }, it should be as many`,
    );
  }
  return broken;
}

function achieved({ tokens, granted }: Side): number {
  return tokens / granted;
}

function answered({ calls }: Side) {
  return calls.filter(({ status }) => status === 200);
}

function isRefused({ status }: { status: number }): boolean {
  return status === 429;
}

function answerTimes(side: Side) {
  return summariseWaits(answered(side).map(({ answerMs }) => answerMs));
}

function seconds(ms: number): string {
  return `${ms / 1000} s`;
}
