/**
 * The charts' style sheet. The colours are those of Okabe and Ito (2008), which people with any kind of colour vision can
 * tell apart; a chart brings its own background, light or dark as the reader's system has it.
 */
export const CHART_STYLE = `
text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; fill: #1d2733; }
.page { fill: #ffffff; }
.band { fill: #eef4fa; }
.title { font-size: 18px; font-weight: 600; }
.name { font-size: 13.5px; }
.own { font-size: 13.5px; font-weight: 700; }
.panel { font-size: 13.5px; font-weight: 600; }
.figure, .legend { font-size: 12.5px; }
.mark, .note { font-size: 12px; fill: #5a6775; }
.grid { stroke: #dfe4e9; stroke-width: 1; }
.axis { stroke: #5a6775; stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.peer { stroke-dasharray: 6 4; }
.whisker { stroke-width: 2; opacity: 0.45; }
.first { fill: #0072b2; stroke: #0072b2; }
.second { fill: #d55e00; stroke: #d55e00; }
.third { fill: #009e73; stroke: #009e73; }
.fourth { fill: #cc79a7; stroke: #cc79a7; }
.fifth { fill: #7a6a00; stroke: #7a6a00; }
.line { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8ecf0; }
  .page { fill: #12171d; }
  .band { fill: #1b2733; }
  .mark, .note { fill: #9aa7b4; }
  .grid { stroke: #2a343f; }
  .axis { stroke: #9aa7b4; }
  .first { fill: #4aa3df; stroke: #4aa3df; }
  .second { fill: #ef7b3a; stroke: #ef7b3a; }
  .third { fill: #2fc79b; stroke: #2fc79b; }
  .fourth { fill: #e39ac4; stroke: #e39ac4; }
  .fifth { fill: #d8c64a; stroke: #d8c64a; }
  .line { fill: none; }
}
`;
