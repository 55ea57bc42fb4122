/**
 * The plot's style sheet. The colours are those of Okabe and Ito (2008), which people with any kind of colour vision can
 * tell apart; the plot brings its own background, light or dark as the reader's system has it.
 */
export const PLOT_STYLE = `
text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; fill: #1d2733; }
.page { fill: #ffffff; }
.title { font-size: 21px; font-weight: 600; }
.lead { font-size: 14px; }
.panel { font-size: 14px; font-weight: 600; }
.legend { font-size: 12.5px; }
.mark, .note { font-size: 12px; fill: #5a6775; }
.grid { stroke: #e4e8ec; stroke-width: 1; }
.axis { stroke: #5a6775; stroke-width: 1; }
.limit { stroke: #5a6775; stroke-width: 1; stroke-dasharray: 5 4; }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.area { stroke: none; }
.area.sluice, .area.working { fill: #0072b2; }
.area.to-db { fill: #f0b429; }
.area.to-tokens { fill: #d55e00; }
.line.stepping { stroke: #1d2733; stroke-width: 1.2; }
.line.tokens { stroke: #0072b2; }
.line.requests { stroke: #cc79a7; }
@media (prefers-color-scheme: dark) {
  text { fill: #e8ecf0; }
  .page { fill: #12171d; }
  .mark, .note { fill: #9aa7b4; }
  .grid { stroke: #26303a; }
  .axis, .limit { stroke: #9aa7b4; }
  .area.sluice, .area.working { fill: #4aa3df; }
  .area.to-db { fill: #f2c14e; }
  .area.to-tokens { fill: #ef7b3a; }
  .line.stepping { stroke: #e8ecf0; }
  .line.tokens { stroke: #4aa3df; }
  .line.requests { stroke: #e39ac4; }
}
`;
