// Draws docs/scale.svg from the dated results of the scale benches: how the cost of a URL grows with how many there are.
//
//   node tools/scale-plot.ts

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Row {
  readonly urls: number
  readonly memoryMiB: number
  readonly known: string
  readonly batch: number
  readonly isCold: boolean
  readonly lastFifthCpuNs: number
  readonly bytesPerUrl: number
  readonly peakBytesPerUrl: number
  readonly reopenMs: number
}

/** Of the frontier. */
interface WaitingRow {
  readonly urls: number
  readonly bytesPerUrlRunning: { readonly middle: number }
  readonly bytesPerUrlAfterOpen: number
  readonly filled: { readonly offerUs: number; readonly peakRssMiB: number; readonly peakOwnMiB: number }
}

interface Panel {
  readonly title: string
  /** None where nothing was promised. */
  readonly bar?: number
  readonly barName?: string
  readonly max: number
  readonly lines: readonly {
    readonly name: string
    readonly points: readonly (readonly [urls: number, value: number])[]
  }[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const WIDTH = 300
const HEIGHT = 220
const LEFT = 44
const TOP = 34
const RIGHT = 12
const BOTTOM = 34
const COLUMNS = 3
const DECADES = [6, 7, 8]
const COLOURS = ['#2b6cb0', '#c05621']

function latest<R>(bench: string): { readonly rows: readonly R[] } {
  const folder = join(root, 'bench/results')
  const names = readdirSync(folder).filter((name) => name.startsWith(`${bench}-`))
  return JSON.parse(readFileSync(join(folder, names.sort().at(-1) ?? ''), 'utf8')) as { rows: R[] }
}

function pointsOf<R extends { readonly urls: number }>(
  rows: readonly R[],
  value: (row: R) => number,
): (readonly [number, number])[] {
  return rows.map((row) => [row.urls, value(row)] as const).sort(([a], [b]) => a - b)
}

function panel({ title, bar, barName, max, lines }: Panel, place: number): string {
  const x = (urls: number): number => LEFT + ((Math.log10(urls) - 6) / 2.05) * (WIDTH - LEFT - RIGHT)
  const y = (value: number): number => HEIGHT - BOTTOM - (value / max) * (HEIGHT - TOP - BOTTOM)
  const round = (value: number): string => value.toFixed(1)
  const parts = [`<text x="${LEFT}" y="18" class="title">${title}</text>`]
  for (const decade of DECADES) {
    const at = round(x(10 ** decade))
    parts.push(`<line x1="${at}" x2="${at}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" class="grid"/>`)
    parts.push(`<text x="${at}" y="${HEIGHT - 16}" class="tick" text-anchor="middle">10${'⁶⁷⁸'[decade - 6]}</text>`)
  }
  for (const share of [0, 0.5, 1]) {
    const at = round(y(max * share))
    parts.push(
      `<text x="${LEFT - 6}" y="${at}" class="tick" text-anchor="end" dominant-baseline="middle">${max * share}</text>`,
    )
  }
  if (bar !== undefined) {
    const barAt = round(y(bar))
    parts.push(`<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${barAt}" y2="${barAt}" class="bar"/>`)
    // Where the line of figures is not.
    const [labelAt, anchor] = bar < 0.7 * max ? [LEFT + 6, 'start'] : [WIDTH - RIGHT, 'end']
    parts.push(`<text x="${labelAt}" y="${Number(barAt) - 4}" class="tick" text-anchor="${anchor}">${barName}</text>`)
  }
  for (const [i, { name, points }] of lines.entries()) {
    const colour = COLOURS[i] ?? '#333'
    const path = points.map(([urls, value]) => `${round(x(urls))},${round(y(value))}`)
    parts.push(`<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`)
    for (const place of path) {
      const [cx, cy] = place.split(',')
      parts.push(`<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`)
    }
    parts.push(`<text x="${LEFT + 6}" y="${TOP + 12 + 13 * i}" class="tick" style="fill:${colour}">${name}</text>`)
  }
  const [across, down] = [(place % COLUMNS) * WIDTH, Math.floor(place / COLUMNS) * HEIGHT]
  return `<g transform="translate(${across},${down})">${parts.join('\n')}</g>`
}

// One budget and the hardest mix (every known URL as likely as any other), files dropped from the page cache.
const measured = latest<Row>('url-seen-scale').rows.filter(
  (row) => row.memoryMiB === 256 && row.known === 'uniform' && row.isCold,
)
const ofBatch = (batch: number): Row[] => measured.filter((row) => row.batch === batch)
const rows = ofBatch(262_144)
// The frontier with a share of 180 MiB.
const waiting = latest<WaitingRow>('frontier-scale').rows
const panels: Panel[] = [
  {
    title: 'CPU a check, µs',
    bar: 3.33,
    barName: '300,000 a second',
    max: 6,
    lines: [
      { name: '262,144 at a time', points: pointsOf(rows, (row) => row.lastFifthCpuNs / 1_000) },
      { name: '4,096 at a time', points: pointsOf(ofBatch(4_096), (row) => row.lastFifthCpuNs / 1_000) },
    ],
  },
  {
    title: 'Bytes a URL on disk',
    bar: 10,
    barName: '10 after a merge',
    max: 20,
    lines: [
      { name: 'merged', points: pointsOf(rows, (row) => row.bytesPerUrl) },
      {
        name: 'peak',
        points: pointsOf(
          rows.filter((row) => row.peakBytesPerUrl > 0),
          (row) => row.peakBytesPerUrl,
        ),
      },
    ],
  },
  {
    title: 'Opening again, cold, s',
    bar: 10,
    barName: '10 s',
    max: 20,
    lines: [{ name: 'seen set', points: pointsOf(rows, (row) => row.reopenMs / 1_000) }],
  },
  {
    title: 'Waiting: bytes a URL on disk',
    bar: 48,
    barName: '48',
    max: 80,
    lines: [
      { name: 'running, the middle', points: pointsOf(waiting, (row) => row.bytesPerUrlRunning.middle) },
      { name: 'opened again', points: pointsOf(waiting, (row) => row.bytesPerUrlAfterOpen) },
    ],
  },
  {
    title: 'Waiting: CPU to file a URL, µs',
    max: 60,
    lines: [{ name: 'with checkpoints and merging', points: pointsOf(waiting, (row) => row.filled.offerUs) }],
  },
  {
    title: 'Waiting: memory, MiB',
    bar: 1_024,
    barName: '1 GiB',
    max: 1_600,
    lines: [
      { name: 'all', points: pointsOf(waiting, (row) => row.filled.peakRssMiB) },
      { name: 'without pages of files', points: pointsOf(waiting, (row) => row.filled.peakOwnMiB) },
    ],
  },
]
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH * COLUMNS} ${HEIGHT * Math.ceil(panels.length / COLUMNS)}" font-family="system-ui, sans-serif">
<style>.title{font-size:13px;font-weight:600;fill:#888}.tick{font-size:11px;fill:#888}.grid{stroke:#8884}.bar{stroke:#888;stroke-dasharray:4 3}</style>
${panels.map(panel).join('\n')}
</svg>
`
writeFileSync(join(root, 'docs/scale.svg'), svg)
console.log('wrote docs/scale.svg')
