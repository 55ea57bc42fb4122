import { counted, duration, grouped, percent } from "./format.ts";
import type { Replay } from "./job.ts";
import type { QuotaUse } from "./quota_use.ts";
import { SERVICE_FORMULA } from "./service_time.ts";
import type { SideSummary, Summary } from "./summary.ts";
import { STAMPS_PER_TICK, tokensOf } from "./trace.ts";
import type { WaitSummary } from "./waits.ts";

/** What the replay is about to do: the traffic, the limits, and how service times are made. */
export function headerText({ trace, limits }: Replay, runtime: string): string {
  const lastStamps = trace.rows.at(-1)?.arrivalStamps ?? 0;
  const tokens = trace.rows.reduce((sum, row) => sum + tokensOf(row), 0);
  return lines([
    `Replay of ${trace.name}, on ${runtime}`,
    `  traffic  ${counted(trace.rows.length, "request")}, ${counted(tokens, "token")}, within ${
      duration(lastStamps / STAMPS_PER_TICK)
    }`,
    `  limits   ${grouped(limits.tpm)} tokens and ${counted(limits.rpm, "request")} a minute (model), ` +
    `${counted(limits.http, "HTTP place")} (http),`,
    `           ${counted(limits.db, "database permit")} (db)`,
    `  service  ${SERVICE_FORMULA},`,
    "           during which a job keeps its HTTP place and its database permit",
  ]);
}

/** The results of both runs, side by side. */
export function resultText(summary: Summary): string {
  return lines([
    ...jobRows(summary),
    "",
    ...waitRows(summary),
    "",
    ...hostageRows(summary),
    "",
    ...quotaRows(summary),
  ]);
}

function jobRows({ sluice, stepping }: Summary): string[] {
  const row = (label: string, value: (side: SideSummary) => number) =>
    sideRow(label, grouped(value(sluice)), grouped(value(stepping)));
  return [
    sideRow("", "Sluice", "one after another"),
    row("Jobs", (side) => side.grantedAtOnce + side.wait.waited + side.refused),
    row("  granted at once", (side) => side.grantedAtOnce),
    row("  waited", (side) => side.wait.waited),
    row("  refused, they can never fit", (side) => side.refused),
    row("Longest line", (side) => side.http.waiting.peak),
  ];
}

function waitRows({ sluice, stepping }: Summary): string[] {
  return [
    waitRow("Wait in ms, of all granted jobs", ["waited", "p50", "p95", "p99", "max"]),
    waitRow("  Sluice", waitCells(sluice.wait)),
    ...[...sluice.waitsOn].map(([name, wait]) => waitRow(`    on ${name}`, waitCells(wait))),
    waitRow("  one after another", waitCells(stepping.wait)),
    ...[...stepping.waitsOn].map(([name, wait]) => waitRow(`    on ${name}`, waitCells(wait))),
  ];
}

function hostageRows({ sluice, stepping }: Summary): string[] {
  const row = (label: string, decimals: number, value: (side: SideSummary) => number) =>
    sideRow(label, grouped(value(sluice), decimals), grouped(value(stepping), decimals));
  return [
    sideRow("HTTP places held hostage", "Sluice", "one after another"),
    row("  by jobs that wait for tokens: peak", 0, (side) => side.http.hostageToTokens.peak),
    row("    time average", 2, (side) => side.http.hostageToTokens.average),
    row("    place-seconds", 0, (side) => side.http.hostageToTokens.seconds),
    row("  by jobs that wait for the database: peak", 0, (side) => side.http.hostageToDb.peak),
    row("    time average", 2, (side) => side.http.hostageToDb.average),
    row("    place-seconds", 0, (side) => side.http.hostageToDb.seconds),
    row("  pool full because of tokens, seconds", 0, (side) => side.http.blockedSeconds),
    row("HTTP places at work: time average", 2, (side) => side.http.working.average),
  ];
}

function quotaRows({ tokens, requests }: Summary): string[] {
  const row = (label: string, use: QuotaUse) =>
    quotaRow(label, grouped(use.taken), percent(use.share), grouped(use.busiestMinute));
  return [
    quotaRow("Quota use, Sluice", "taken", "of all there was", "busiest 60 s"),
    row("  tokens", tokens),
    row("  requests", requests),
  ];
}

function waitCells(wait: WaitSummary): string[] {
  return [wait.waited, wait.p50, wait.p95, wait.p99, wait.max].map((value) => grouped(value));
}

function sideRow(label: string, sluice: string, stepping: string): string {
  return label.padEnd(44) + sluice.padStart(14) + stepping.padStart(20);
}

function waitRow(label: string, cells: readonly string[]): string {
  return label.padEnd(33) + cells.map((cell) => cell.padStart(9)).join("");
}

function quotaRow(label: string, taken: string, share: string, busiest: string): string {
  return label.padEnd(24) + taken.padStart(18) + share.padStart(18) + busiest.padStart(18);
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join("");
}
