// How report.html looks. One sheet, no image, no font from elsewhere; light and dark by the reader's
// preference. Text colours keep a contrast of at least 4.5 to 1 against what they stand on.

export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f4f2ec; --card: #fffefb; --ink: #1c2630; --soft: #566370; --line: #e1ddd2; --faint: #eeebe3;
  --accent: #1d6a86; --good: #2b7a5b; --moved: #4a6fa5; --warn: #8f5c0c; --bad: #b03a35; --silent: #74508a; --idle: #8c949c;
  --accent-wash: #1d6a8622; --good-wash: #e3f1ea; --warn-wash: #faf0dc; --bad-wash: #f9e7e4;
  --radius: 12px;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10161c; --card: #18212a; --ink: #e7ebee; --soft: #a3b0bb; --line: #2a3641; --faint: #212c36;
    --accent: #62b6d3; --good: #5cb993; --moved: #86a9dd; --warn: #dca549; --bad: #ec857e; --silent: #b795cf; --idle: #7d8994;
    --accent-wash: #62b6d326; --good-wash: #17302a; --warn-wash: #332a18; --bad-wash: #3a2224;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main, .masthead, footer { max-width: 1160px; margin: 0 auto; padding: 0 24px; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code { font: 0.92em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.url { overflow-wrap: anywhere; }
.soft { color: var(--soft); }

.masthead { padding-top: 36px; }
.brand { display: flex; align-items: center; gap: 9px; color: var(--soft); font-size: 13px; letter-spacing: .03em; }
.brand svg { width: 26px; height: 26px; }
h1 { margin: 14px 0 2px; font-size: 34px; line-height: 1.2; letter-spacing: -.015em; font-weight: 650; overflow-wrap: anywhere; }
h2 { margin: 52px 0 4px; font-size: 22px; letter-spacing: -.01em; font-weight: 650; }
h3, caption, figcaption b { font-size: 15px; font-weight: 600; }
h2 + p { margin: 0 0 16px; color: var(--soft); max-width: 72ch; }
nav { display: flex; gap: 20px; overflow-x: auto; margin-left: auto; padding: 4px 0; font-size: 14px; letter-spacing: 0; white-space: nowrap; scrollbar-width: none; }

.verdict { display: flex; gap: 14px; align-items: flex-start; margin: 22px 0 16px; padding: 16px 20px; border-radius: var(--radius);
  border-left: 5px solid var(--tone); background: var(--wash); }
.verdict p { margin: 0; } .verdict strong { font-size: 17px; }
.verdict svg { flex: none; width: 24px; height: 24px; margin-top: 1px; color: var(--tone); }
.verdict code { display: inline-block; margin-top: 8px; padding: 6px 10px; border-radius: 7px; background: var(--card);
  border: 1px solid var(--line); overflow-wrap: anywhere; }
.good { --tone: var(--good); --wash: var(--good-wash); }
.warn { --tone: var(--warn); --wash: var(--warn-wash); }
.bad { --tone: var(--bad); --wash: var(--bad-wash); }

.cards { display: grid; grid-template-columns: repeat(4, 1fr); gap: 14px; margin: 0; padding: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); padding: 16px 18px; min-width: 0; }
.cards dt { color: var(--soft); font-size: 13px; }
.cards dd { margin: 0; }
.figure { font-size: 29px; line-height: 1.25; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.figure small { font-size: 16px; font-weight: 500; letter-spacing: 0; color: var(--soft); }
.card.bad .figure { color: var(--bad); } .card.good .figure { color: var(--good); }
.card .soft { font-size: 13px; overflow-wrap: anywhere; }

.grid { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 14px; align-items: start; }
.pile { display: grid; gap: 14px; grid-template-columns: minmax(0, 1fr); }
.wide { grid-column: 1 / -1; }
figure { margin: 0; }
figcaption, caption { text-align: left; padding-bottom: 10px; }
figcaption span, caption span { display: block; font-weight: 400; font-size: 13px; color: var(--soft); }
figure svg { display: block; overflow: visible; }
.plot { display: flex; } .plot > svg:first-child { flex: none; } .plot .across { flex: 1; min-width: 0; }
svg text { fill: var(--soft); font-size: 11.5px; font-variant-numeric: tabular-nums; }
.gridline { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; }
.area { fill: var(--accent-wash); }
.curve { fill: none; stroke: var(--accent); stroke-width: 1.8; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.column { fill: var(--accent); }
.hit { fill: transparent; } .hit:hover { fill: var(--accent-wash); }
.stack { display: flex; height: 22px; border-radius: 7px; overflow: hidden; background: var(--faint); gap: 2px; }
.stack i { display: block; min-width: 3px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 22px; list-style: none; margin: 14px 0 0; padding: 0; font-size: 14px; font-variant-numeric: tabular-nums; }
.legend i { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; }

table { width: 100%; border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--card); text-align: left; color: var(--soft); font-weight: 500; font-size: 13px;
  padding: 6px 10px 6px 0; box-shadow: inset 0 -1px 0 var(--line); }
tbody th { font-weight: 400; text-align: left; overflow-wrap: anywhere; }
tbody th, td { padding: 6px 10px 6px 0; vertical-align: top; border-bottom: 1px solid var(--faint); }
tbody tr:last-child > * { border-bottom: 0; }
th:last-child, td:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; }
thead .number { text-align: right; }
.bar { width: 34%; min-width: 70px; vertical-align: middle; }
.bar svg { display: block; width: 100%; height: 9px; }
.bar rect { fill: var(--tone, var(--accent)); }
.bars th small, .explained small { display: block; color: var(--soft); font-size: 13px; }
.moved { --tone: var(--moved); } .idle { --tone: var(--idle); } .silent { --tone: var(--silent); }
.others > * { color: var(--soft); }
.state { display: inline-block; padding: 1px 8px; border-radius: 20px; font-size: 12.5px; font-weight: 600; color: var(--tone); background: var(--wash); white-space: nowrap; }
.broken { table-layout: fixed; } .broken th a { color: var(--ink); font-weight: 500; } .broken .what { width: 23%; } .broken .from { width: 38%; }
.broken ul { list-style: none; margin: 4px 0 0; padding: 0; } .broken small { display: block; color: var(--soft); font-size: 13px; margin-top: 3px; }
summary { cursor: pointer; color: var(--accent); font-size: 13.5px; width: fit-content; }
details.more { margin-top: 12px; } details.more > table { margin-top: 10px; }
.became { margin-top: 14px; } .became h3 { margin: 0 0 12px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.pairs th { width: 1%; white-space: nowrap; padding-right: 20px; color: var(--soft); }
footer { margin-top: 56px; padding-top: 18px; padding-bottom: 40px; color: var(--soft); font-size: 13px; border-top: 1px solid var(--line); }

@media (max-width: 900px) { .cards { grid-template-columns: repeat(2, 1fr); } }
@media (max-width: 760px) { .grid { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 620px) {
  main, .masthead, footer { padding-left: 14px; padding-right: 14px; }
  h1 { font-size: 26px; } h2 { margin-top: 40px; font-size: 20px; }
  .cards { gap: 10px; } .card { padding: 13px 14px; } .figure { font-size: 23px; } .figure small { font-size: 13px; }
  .verdict { padding: 14px; } .brand { flex-wrap: wrap; } nav { margin: 0; width: 100%; gap: 16px; }
  .bar { width: 24%; min-width: 44px; }
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked tr { display: block; padding: 10px 0; border-bottom: 1px solid var(--line); }
  .stacked tr:last-child { border-bottom: 0; padding-bottom: 0; }
  .stacked tbody th, .stacked td { display: block; width: auto !important; text-align: left; padding: 2px 0; border: 0; white-space: normal; }
  .stacked td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); }
}
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --faint: #eee;
    --accent: #1d6a86; --good: #2b7a5b; --moved: #4a6fa5; --warn: #8f5c0c; --bad: #b03a35; --silent: #74508a; --idle: #8c949c;
    --good-wash: #fff; --warn-wash: #fff; --bad-wash: #fff; }
  body { font-size: 11px; } nav { display: none; } thead th { position: static; }
  .card, .verdict, tr { break-inside: avoid; } h2 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  svg, .stack i, .legend i, .state { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`
