// Charts as inline SVG, without a script. They have no viewBox of their own: lengths across are
// percentages and lengths down are pixels, so that a chart fills a telephone or a wall and its text
// stays legible. Each says in words what it shows, for those who do not see it.

import { formatCount, formatNumberOf, formatShare } from '../figures.ts'
import type { TallyRow, TallyRows } from '../tally.ts'
import { html, type Markup } from './markup.ts'

/** Names of colours in the style sheet. */
export type Tone = 'accent' | 'good' | 'moved' | 'warn' | 'bad' | 'silent' | 'idle' | 'line'

export interface Point {
  readonly x: number
  readonly y: number
}

export interface AreaChart {
  readonly name: string
  /** The message in a few words, beside the name. */
  readonly says: string
  /** From left to right. */
  readonly points: readonly Point[]
  readonly xMax: number
  readonly xTicks: readonly number[]
  /** From 0 upward; the last is the top of the chart. */
  readonly yTicks: readonly number[]
  readonly formatX: (x: number) => string
  readonly formatY: (y: number) => string
}

const PLOT_TOP = 14
const PLOT_HEIGHT = 130
const AXIS_HEIGHT = 24
/** Room for '1000 MiB' left of the chart. */
const GUTTER = 58

/** Something over time. */
export function areaChart(chart: AreaChart): Markup {
  const { points, xMax, xTicks, yTicks, formatX, formatY } = chart
  const yMax = yTicks.at(-1) ?? 1
  const across = (x: number): string => percent(x, xMax)
  const down = (y: number): number => round(PLOT_TOP + PLOT_HEIGHT * (1 - y / yMax))
  const path = points.map(({ x, y }) => `${round((1_000 * x) / xMax)},${round(100 * (1 - y / yMax))}`).join('L')
  const first = round((1_000 * (points[0]?.x ?? 0)) / xMax)
  const last = round((1_000 * (points.at(-1)?.x ?? 0)) / xMax)
  // Invisible strips that tell the value under the pointer.
  const strips = points.map((point, i) => {
    const from = i === 0 ? point.x : (point.x + (points[i - 1]?.x ?? 0)) / 2
    const to = i === points.length - 1 ? point.x : (point.x + (points[i + 1]?.x ?? 0)) / 2
    return html`<rect
      class="hit"
      x="${across(from)}"
      y="${PLOT_TOP}"
      width="${across(to - from)}"
      height="${PLOT_HEIGHT}"
      ><title>${formatX(point.x)}: ${formatY(point.y)}</title></rect
    >`
  })
  const height = PLOT_TOP + PLOT_HEIGHT + AXIS_HEIGHT
  return html`<figure class="card">
    <figcaption><b>${chart.name}</b><span>${chart.says}</span></figcaption>
    <div class="plot" role="img" aria-label="${chart.name}: ${chart.says}">
      <svg width="${GUTTER}" height="${height}">
        ${yTicks.map((y) => html`<text x="${GUTTER - 8}" y="${down(y) + 4}" text-anchor="end">${formatY(y)}</text>`)}
      </svg>
      <svg class="across" width="100%" height="${height}">
        ${yTicks.map((y) => html`<line class="gridline" x1="0" x2="100%" y1="${down(y)}" y2="${down(y)}" />`)}
        <svg
          x="0"
          y="${PLOT_TOP}"
          width="100%"
          height="${PLOT_HEIGHT}"
          viewBox="0 0 1000 100"
          preserveAspectRatio="none"
        >
          <path class="area" d="M${first},100L${path}L${last},100Z" />
          <path class="curve" d="M${path}" />
        </svg>
        ${xTicks.map((x) => html`<text x="${across(x)}" y="${PLOT_TOP + PLOT_HEIGHT + 17}" text-anchor="${anchorAt(x / xMax)}">${formatX(x)}</text>`)}
        ${strips}
      </svg>
    </div>
  </figure>`
}

export interface Column {
  /** Below the column, where there is room. */
  readonly label: string
  /** Which values it holds, in words. */
  readonly range: string
  readonly count: number
}

/** How a quantity spreads: columns side by side. */
export function columnChart(name: string, says: string, columns: readonly Column[]): Markup {
  const countMax = Math.max(1, ...columns.map((column) => column.count))
  const total = columns.reduce((sum, column) => sum + column.count, 0)
  // Labels need about 45 px of the 330 there are on a telephone.
  const every = Math.max(1, Math.ceil(columns.length / 7))
  // A single column is a column, not a wall.
  const width = Math.min(20, 100 / Math.max(1, columns.length))
  return html`<figure class="card">
    <figcaption><b>${name}</b><span>${says}</span></figcaption>
    <svg role="img" aria-label="${name}: ${says}" width="100%" height="${PLOT_TOP + PLOT_HEIGHT + AXIS_HEIGHT}">
      ${columns.map(({ label, range, count }, i) => {
        const height = count === 0 ? 0 : Math.max(2, (PLOT_HEIGHT * count) / countMax)
        const middle = (i + 0.5) * width
        return html`<g>
          <title>${range}: ${formatCount(count)} (${formatShare(count, total)})</title>
          <rect
            class="hit"
            x="${round(i * width)}%"
            y="0"
            width="${round(width)}%"
            height="${PLOT_TOP + PLOT_HEIGHT}"
          />
          <rect
            class="column"
            x="${round((i + 0.1) * width)}%"
            y="${round(PLOT_TOP + PLOT_HEIGHT - height)}"
            width="${round(0.8 * width)}%"
            height="${round(height)}"
            rx="2"
          />
          ${i % every === 0 ? html`<text x="${round(middle)}%" y="${PLOT_TOP + PLOT_HEIGHT + 17}" text-anchor="middle">${label}</text>` : null}</g
        >`
      })}
      <line class="gridline" x1="0" x2="100%" y1="${PLOT_TOP + PLOT_HEIGHT}" y2="${PLOT_TOP + PLOT_HEIGHT}" />
    </svg>
  </figure>`
}

/** A number as a length, beside the number itself in a table. */
export function bar(part: number, whole: number, tone: Tone = 'accent'): Markup {
  // Hidden from screen readers: the number stands in the next cell.
  return html`<td class="bar ${tone}" aria-hidden="true">
    <svg><rect width="${percent(part, whole)}" height="9" rx="2.5" /></svg>
  </td>`
}

export interface BarTable {
  readonly name: string
  readonly says?: string
  readonly rows: TallyRows
  /** What the first and the last column hold. */
  readonly of: string
  readonly label?: (name: string) => Markup
  readonly tone?: (name: string) => Tone
  readonly weight?: (row: TallyRow) => string
}

/** Counts by name, largest first, as a table with bars. */
export function barTable({ name, says, rows: { rows, others, total }, of, label, tone, weight }: BarTable): Markup {
  const countMax = Math.max(1, others.count, ...rows.map((row) => row.count))
  return html`<div class="card">
    <table class="bars">
      <caption>
        ${name}${says === undefined ? null : html`<span>${says}</span>`}
      </caption>
      <thead>
        <tr>
          <th scope="col">${of}</th>
          <th class="bar"></th>
          <th scope="col" class="number">count</th>
          ${weight === undefined ? null : html`<th scope="col" class="number">size</th>`}
          <th scope="col" class="number">share</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <th scope="row">${label?.(row.name) ?? row.name}</th>
              ${bar(row.count, countMax, tone?.(row.name))}
              <td class="number">${formatCount(row.count)}</td>
              ${weight === undefined ? null : html`<td class="number">${weight(row)}</td>`}
              <td class="number soft">${formatShare(row.count, total)}</td>
            </tr> `,
        )}${
          others.count === 0
            ? null
            : html`<tr class="others">
                <th scope="row">${formatNumberOf(others.names, 'other')}</th>
                ${bar(others.count, countMax, 'idle')}
                <td class="number">${formatCount(others.count)}</td>
                ${weight === undefined ? null : html`<td class="number">${weight({ name: '', ...others })}</td>`}
                <td class="number soft">${formatShare(others.count, total)}</td>
              </tr>`
        }
      </tbody>
    </table>
  </div>`
}

export interface StackPart {
  readonly name: string
  readonly count: number
  readonly tone: Tone
}

/** Parts of a whole in one bar, with a legend that carries the numbers. */
export function stackedBar(says: string, parts: readonly StackPart[]): Markup {
  const shown = parts.filter((part) => part.count > 0)
  const total = shown.reduce((sum, part) => sum + part.count, 0)
  return html`<div class="stack" role="img" aria-label="${says}">
      ${shown.map((part) => html`<i style="flex:${round((1_000 * part.count) / total)} 0 0;background:var(--${part.tone})" title="${part.name}: ${formatCount(part.count)}"></i>`)}
    </div>
    <ul class="legend">
      ${shown.map((part) => html`<li><i style="background:var(--${part.tone})"></i>${part.name} <b>${formatCount(part.count)}</b> <span class="soft">${formatShare(part.count, total)}</span></li>`)}
    </ul>`
}

function percent(part: number, whole: number): string {
  return `${whole > 0 ? round((100 * part) / whole) : 0}%`
}

/** Two digits are finer than a pixel, and keep the file small. */
function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** Labels at the ends stay inside the chart. */
function anchorAt(share: number): string {
  return share < 0.04 ? 'start' : share > 0.94 ? 'end' : 'middle'
}
