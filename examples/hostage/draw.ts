import type { Axis } from "../replay/columns.ts";
import { grouped } from "../replay/format.ts";
import { PLOT_COLUMNS } from "../replay/plot.ts";
import { type Curve, drawPanel, type Panel } from "../replay/plot_panel.ts";
import { PLOT_STYLE } from "../replay/plot_style.ts";
import { roundMarks } from "../replay/scale.ts";
import { element, escaped, label } from "../replay/svg.ts";
import { measure, type Measured } from "./measure.ts";
import { PLACES, play, SPAN_MS, TPM } from "./scenario.ts";
import { oneAdmission, oneAtATime } from "./ways.ts";

const WIDTH = 1_000;
const HEIGHT = 616;
const LEFT = 84;
const TOPS = [146, 298, 450];
const PANEL_HEIGHT = 104;
/** In ms: the scenario is measured in them, and so is the axis. */
const AXIS: Axis = { endTicks: SPAN_MS, columnCount: PLOT_COLUMNS };

/** Plays the scenario both ways and draws what happened to the places, and to the jobs that needed nothing else. */
export async function drawHostages(): Promise<string> {
  const stepping = measure(await play(oneAtATime), AXIS);
  const sluice = measure(await play(oneAdmission), AXIS);
  const panels = [
    placesPanel("One limit at a time: a place, then tokens", stepping),
    placesPanel("One Admission: place and tokens at once", sluice),
    waitingPanel(stepping, sluice),
  ];
  const bottom = (TOPS.at(-1) ?? 0) + PANEL_HEIGHT + 18;
  const seconds = roundMarks(SPAN_MS / 1_000, { most: 12, smallestStep: 1 }).values;
  const xOf = (second: number) => LEFT + (PLOT_COLUMNS * second * 1_000) / SPAN_MS;
  return [
    // This project's formatter would break the lines of the picture anew.
    "<!-- deno-fmt-ignore-file -->",
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" ` +
    `role="img" aria-labelledby="title lead">`,
    `<style>${PLOT_STYLE}.area.model { fill: #56b4e9; }\n</style>`,
    element("rect", { class: "page", width: WIDTH, height: HEIGHT }),
    drawHeading(stepping, sluice),
    ...panels.map((panel, index) =>
      drawPanel(
        panel,
        { left: LEFT, top: TOPS[index] ?? 0, width: PLOT_COLUMNS, height: PANEL_HEIGHT },
        seconds.map(xOf),
      )
    ),
    ...seconds.map((second) =>
      label(`${second}`, { x: xOf(second), y: bottom, style: "mark", anchor: "middle" })
    ),
    label("seconds", { x: LEFT + PLOT_COLUMNS / 2, y: bottom + 22, style: "mark", anchor: "middle" }),
    "</svg>\n",
  ].join("\n");
}

function drawHeading(stepping: Measured, sluice: Measured): string {
  const title = "HTTP places, taken hostage by jobs that wait for tokens";
  const lead =
    `Limits taken one at a time: ${
      held(stepping)
    } places are held by jobs without tokens, and jobs that need ` +
    `only a place wait ${waited(stepping)}.`;
  const end = `One Admission: ${held(sluice)} places, and ${waited(sluice)}.`;
  const note =
    `${PLACES} places (async-sema's above, a CountingGate below), ${grouped(TPM)} tokens a minute. ` +
    `Jobs with tokens begin and end at the same instants both ways.`;
  return [
    element("text", { id: "title", class: "title", x: 24, y: 38 }, title),
    element("text", { id: "lead", class: "lead", x: 24, y: 62 }, escaped(lead)),
    label(end, { x: 24, y: 81, style: "lead" }),
    label(note, { x: 24, y: 101, style: "note" }),
  ].join("\n");
}

function held({ mostHostages }: Measured): string {
  return mostHostages === 0 ? "no" : `up to ${mostHostages} of ${PLACES}`;
}

function waited({ longestPlainWaitMs }: Measured): string {
  return `up to ${(longestPlainWaitMs / 1_000).toFixed(1)} s`;
}

function placesPanel(title: string, run: Measured): Panel {
  return {
    title,
    unit: "places",
    curves: [
      area("at work, place only", "working", run.plainAtWork),
      area("at work, with tokens", "model", run.modelAtWork),
      area("waiting for tokens", "to-tokens", run.hostages),
    ],
    top: PLACES * 1.2,
    marks: [0, 4, 8],
    markText: grouped,
    limit: { value: PLACES, text: `all ${PLACES} places` },
  };
}

function area(name: string, style: string, values: Float64Array): Curve {
  return { name, style, kind: "area", values };
}

function waitingPanel(stepping: Measured, sluice: Measured): Panel {
  return {
    title: "Jobs waiting that need only a place",
    unit: "jobs",
    curves: [
      area("one Admission", "sluice", sluice.plainWaiting),
      { name: "one at a time", style: "stepping", kind: "line", values: stepping.plainWaiting },
    ],
    top: stepping.mostPlainWaiting * 1.1,
    marks: roundMarks(stepping.mostPlainWaiting, { most: 3, smallestStep: 1 }).values,
    markText: grouped,
    limit: null,
  };
}
