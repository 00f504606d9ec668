// What does the SimHash of a page's text cost, on top of finding its links?
//
//   node bench/simhash.ts
//
// Pages of 8 to 22 kB of Debian documentation packages (bench/corpus.ts), scanned with and without it in turn. Figures are
// CPU time of this process, best of many rounds; SHA-256 of the same bytes stands beside them as a yardstick of the moment.

import { hash } from 'node:crypto'
import { scanHtml } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { corpusPages } from './corpus.ts'

const ROUNDS = 60
const PAGES_MAX = 300
const MEAN_BYTES = 14_000

const pages: Buffer[] = []
for (const { bytes } of corpusPages(['postgresql-doc-15', 'python3.11-doc'])) {
  if (bytes.length > 8_000 && bytes.length < 22_000) pages.push(bytes)
  if (pages.length === PAGES_MAX) break
}
if (pages.length === 0) {
  console.error('bench/simhash: no page of the corpus can be had; nothing was measured')
  process.exit(1)
}
const bytes = pages.reduce((sum, page) => sum + page.length, 0)
const withIt = parseOptions.parse({})
const withoutIt = parseOptions.parse({ simhash: false })

/** Microseconds for 14 kB. */
function cost(work: (page: Buffer) => unknown): number {
  const before = process.cpuUsage()
  for (const page of pages) work(page)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * MEAN_BYTES) / bytes
}

const best = { withSimhash: Infinity, withoutSimhash: Infinity, sha256: Infinity }
for (let round = 0; round < ROUNDS; round++) {
  const on = cost((page) => scanHtml(page, { charset: 'utf-8' }, withIt))
  const off = cost((page) => scanHtml(page, { charset: 'utf-8' }, withoutIt))
  const digest = cost((page) => hash('sha256', page, 'hex'))
  best.withSimhash = Math.min(best.withSimhash, on)
  best.withoutSimhash = Math.min(best.withoutSimhash, off)
  best.sha256 = Math.min(best.sha256, digest)
}
const simhash = best.withSimhash - best.withoutSimhash
const figures = Object.fromEntries(
  Object.entries({ ...best, simhash }).map(([name, value]) => [name, Math.round(value * 10) / 10]),
)
for (const [name, value] of Object.entries(figures))
  console.log(`${name.padEnd(16)} ${value.toFixed(1).padStart(6)} µs for 14 kB`)
console.log(JSON.stringify({ bench: 'simhash', pages: pages.length, microsecondsFor14kB: figures }))
