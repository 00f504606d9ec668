// Draws docs/peers.svg from the newest sitting of each web in the results of bench/peers.ts of one day: what a page costs each crawler, on a scale of powers of ten.
//
//   node tools/peers-plot.ts
//
// One panel for each kind of origin, one line for each crawler, one dot for each run: how far the dots of a line lie apart is how
// much the machine alone changes. The best run of each web is filled.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bestOf, type Sitting } from '../bench/peers/sitting.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const LABELS = 190
const WIDTH = 250
const TOP = 34
const LINE = 26
const BOTTOM = 46
const LOW = 100
const HIGH = 20_000
const TICKS = [100, 1_000, 10_000]
/** By how many hosts the web has, and whether it is one of the long ones. */
const WEBS = [
  { name: '1 host', colour: '#c05621', fits: (hosts: number, isLong: boolean) => hosts === 1 && !isLong },
  { name: '64 hosts', colour: '#2b6cb0', fits: (hosts: number, isLong: boolean) => hosts === 64 && !isLong },
  { name: '1,000 hosts', colour: '#2f855a', fits: (hosts: number, isLong: boolean) => hosts === 1_000 && !isLong },
  { name: '64 hosts, longer', colour: '#805ad5', fits: (_: number, isLong: boolean) => isLong },
] as const

interface Results {
  readonly date: string
  readonly options: { readonly long: string }
  readonly contenders: readonly { readonly name: string; readonly version: string }[]
  readonly sittings: readonly Sitting[]
}

function newest(): Results {
  const folder = join(root, 'bench/results')
  const all = readdirSync(folder)
    .filter((name) => /^peers-\d.*\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Results)
    .toSorted((a, b) => a.date.localeCompare(b.date))
  const last = all.at(-1)
  if (last === undefined) throw new Error(`there are no results in ${folder}`)
  const sameDay = all.filter(({ date }) => date.slice(0, 10) === last.date.slice(0, 10))
  const byWeb = new Map(
    sameDay.flatMap(({ sittings }) => sittings.map((one) => [JSON.stringify(one.origin), one] as const)),
  )
  return { ...last, sittings: [...byWeb.values()] }
}

const { contenders, sittings, options, date } = newest()
const height = TOP + LINE * contenders.length + BOTTOM
const x = (micros: number): number =>
  (Math.log(Math.min(HIGH, Math.max(LOW, micros)) / LOW) / Math.log(HIGH / LOW)) * (WIDTH - 24)
const y = (line: number): number => TOP + LINE * (line + 0.5)

function panel(kind: Sitting['origin']['kind'], column: number): string {
  const parts = [`<text x="0" y="18" class="title">${kind === 'https' ? 'HTTPS' : kind}</text>`]
  for (const tick of TICKS) {
    const at = x(tick).toFixed(1)
    parts.push(`<line x1="${at}" x2="${at}" y1="${TOP}" y2="${height - BOTTOM}" class="grid"/>`)
    parts.push(
      `<text x="${at}" y="${height - BOTTOM + 15}" class="tick" text-anchor="middle">${tick.toLocaleString('en')}</text>`,
    )
  }
  for (const sitting of sittings.filter((one) => one.origin.kind === kind)) {
    const isLong = sitting.pages >= Number(options.long) && Number(options.long) > 0
    const web = WEBS.findIndex(({ fits }) => fits(sitting.origin.hosts, isLong))
    const best = new Set(bestOf(sitting.results))
    for (const result of sitting.results) {
      const line = contenders.findIndex((one) => one.name === result.contender)
      const colour = WEBS[web]?.colour ?? '#333'
      parts.push(
        `<circle cx="${x(result.cpuMicrosPerPage).toFixed(1)}" cy="${(y(line) + (web - 1.5) * 5).toFixed(1)}" r="3" ` +
          `stroke="${colour}" fill="${best.has(result) ? colour : 'none'}"/>`,
      )
    }
  }
  return `<g transform="translate(${LABELS + column * WIDTH},0)">${parts.join('\n')}</g>`
}

/** With one agent, or with one for each processor. */
function labelOf(name: string): string {
  const flags = name.replace('portolan --warc ', 'portolan, ')
  return flags.includes(' --agents 1') ? flags.replace(' --agents 1', '') : `${flags}, all processors`
}

const names = contenders.map(
  ({ name, version }, line) =>
    `<text x="${LABELS - 14}" y="${y(line)}" class="tick" text-anchor="end" dominant-baseline="middle">` +
    `${name.startsWith('portolan') ? labelOf(name) : `${name} ${version}`}</text>`,
)
const legend = WEBS.map(
  ({ name, colour }, i) =>
    `<circle cx="${LABELS + 4 + 130 * i}" cy="${height - 12}" r="3" fill="${colour}"/>` +
    `<text x="${LABELS + 12 + 130 * i}" y="${height - 8}" class="tick" style="fill:${colour}">${name}</text>`,
)
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LABELS + 3 * WIDTH} ${height}" font-family="system-ui, sans-serif">
<title>CPU time a page, µs, ${date.slice(0, 10)}</title>
<style>.title{font-size:13px;font-weight:600;fill:#888}.tick{font-size:11px;fill:#888}.grid{stroke:#8884}</style>
<text x="${LABELS - 14}" y="18" class="title" text-anchor="end">CPU a page, µs</text>
${names.join('\n')}
${(['plain', 'gzip', 'https'] as const).map(panel).join('\n')}
${legend.join('\n')}
</svg>
`
writeFileSync(join(root, 'docs/peers.svg'), svg)
console.log('wrote docs/peers.svg')
