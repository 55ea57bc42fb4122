import { type AccountView, AdmissionError, LimiterEvents, type WaiterView } from "../../mod.ts";
import type { Look, Walk } from "./looks.ts";
import type { Scenario } from "./scenario.ts";
import type { Note, Step, Story, Told } from "./story.ts";

/** Where messages are broken. */
const MESSAGE_COLUMNS = 90;

/** How headings are set off. */
export type Emphasis = (heading: string) => string;

/** A story as text, one block for each step, with columns that line up. */
export function storyText({ name, title }: Scenario, story: Story, emphasise: Emphasis): string {
  const widths = widthsOf(story);
  const accounts = story.accounts.map((account) =>
    `   ${account.name.padEnd(widths.account)}  ${account.category}, ${account.summary}`
  );
  const blocks = story.steps.map((step) => [emphasise(headingOf(step)), ...stepLines(step, widths)]);
  return [[emphasise(`${name}: ${title}`), ...accounts], ...blocks]
    .map((lines) => lines.map((line) => `${line.trimEnd()}\n`).join(""))
    .join("\n");
}

interface Widths {
  readonly job: number;
  readonly account: number;
  readonly amount: number;
  readonly ahead: number;
}

function widthsOf({ accounts, steps }: Story): Widths {
  const looks = steps.flatMap(({ notes }) => notes).flatMap(walkOf);
  const views = looks.flatMap(({ told }) => told.accounts);
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map(({ length }) => length));
  return {
    job: longest(looks.map(({ name }) => name)),
    account: longest(accounts.map(({ name }) => name)),
    amount: longest(views.map(({ amount }) => String(amount))),
    ahead: longest(views.map(aheadOf)),
  };
}

function walkOf(note: Note): Walk {
  if ("told" in note) return [];
  return "walk" in note ? note.walk : note.seen;
}

function headingOf({ number, atMs, title }: Step): string {
  return `${number}. At ${time(atMs)}: ${title}`;
}

function stepLines({ notes, waiters, nextLookMs }: Step, widths: Widths): string[] {
  const lines = notes.flatMap((note) => {
    if ("told" in note) return toldLines(note.told);
    return "walk" in note ? walkLines("look", note.walk, widths) : walkLines("seen", note.seen, widths);
  });
  const line = waiters.map((waiter, place) => waiterText(waiter, place === 0));
  return [
    ...lines,
    ...labelled("line", line.length === 0 ? ["nobody waits"] : line),
    ...labelled("next", [
      nextLookMs === null ? "only an event leads to a look" : `a look at ${time(nextLookMs)}`,
    ]),
  ];
}

/** The first line of a group has a label, the others stand below it. */
function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `   ${(index === 0 ? label : "").padEnd(4)}  ${line}`);
}

function walkLines(label: "look" | "seen", walk: Walk, widths: Widths): string[] {
  return labelled(label, walk.flatMap((look) => lookLines(look, label === "look", widths)));
}

function lookLines(look: Look, isPassComing: boolean, widths: Widths): string[] {
  const rows = look.told.accounts.map((view, index) =>
    [
      (index === 0 ? look.name : "").padEnd(widths.job),
      view.account.padEnd(widths.account),
      String(view.amount).padStart(widths.amount),
      aheadOf(view).padEnd(widths.ahead),
      answerOf(view),
    ].join("  ")
  );
  return [...rows, `${"".padEnd(widths.job)}  ${verdictOf(look, isPassComing)}`];
}

function aheadOf({ ahead }: AccountView): string {
  return ahead === 0 ? "" : `beside ${ahead} set aside`;
}

function answerOf({ refusal, isShort, missing, earliestMs }: AccountView): string {
  if (refusal !== null) return "refuses";
  if (!isShort) return "fits";
  const short = missing === null || missing === 0 ? "short" : `short of ${missing}`;
  return `${short}, ${whenText(earliestMs)}`;
}

function verdictOf({ told, verdict }: Look, isPassComing: boolean): string {
  const would = isPassComing ? "" : "would be ";
  if (verdict === "granted") return `= ${would}granted: all of it fits`;
  if (verdict === "refused") return `= ${would}refused: an account refuses it`;
  return `= waits, ${whenText(told.earliestMs)}`;
}

function whenText(earliestMs: number | null): string {
  return earliestMs === null ? "only an event helps" : `fits at ${time(earliestMs)} by the clock`;
}

function toldLines({ job, events, error }: Told): string[] {
  const lines = events.map((event) => `${job}: ${LimiterEvents.render(event)}`);
  return labelled("told", error === null ? lines : [...lines, ...wrapped(`${job}: ${errorText(error)}`)]);
}

/** What the caller gets: a message for people, and the facts that code goes by. */
function errorText(error: Error): string {
  if (!(error instanceof AdmissionError)) return `${error.name}: ${error.message}`;
  const { retryAfterMs } = error as { retryAfterMs?: number | null };
  const again = typeof retryAfterMs === "number" ? `, again after ${time(retryAfterMs)}` : "";
  return `${error.name} (${error.code}${again}): ${error.message}`;
}

/** Broken at spaces, with what follows set in. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= MESSAGE_COLUMNS) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(last === undefined ? word : `  ${word}`);
  }
  return lines;
}

function waiterText({ job, waitedMs, accounts }: WaiterView, isHead: boolean): string {
  const held = accounts.filter(({ heldMs }) => heldMs !== null)
    .map(({ account, heldMs }) => `by ${account} for ${time(heldMs!)}`);
  const aside = accounts.map(({ account, amount }) => `${account} ${amount}`).join(", ");
  return `${job?.id} is here for ${time(waitedMs)}, held ${held.join(" and ")}` +
    (isHead ? `; as the head it has set aside: ${aside}` : "");
}

/** To a tick, without zeros behind. */
function time(ms: number): string {
  return `${Math.round(ms * 1_000) / 1_000} ms`;
}
