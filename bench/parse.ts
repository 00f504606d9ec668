// How fast are links found in real pages: by our scanner, as places in the page (what a crawl asks for) or each as text, with a SimHash
// of the page in any case; by htmlparser2 as a stream of tags; by parse5's tree?
//
//   node bench/parse.ts
//
// Pages come from Debian documentation packages (bench/corpus.ts). Figures are CPU time of this process, best of
// several rounds, the candidates in turn so that a busy machine slows all of them. `indexOf` is a yardstick of the moment: a bare jump
// from one `<` to the next in the one-byte string of the page.

import { Parser } from 'htmlparser2'
import { parse } from 'parse5'
import { scanHtml } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { corpusPages } from './corpus.ts'

const PACKAGES = ['postgresql-doc-15', 'python3.11-doc', 'apache2-doc'] as const
/** Enough for a steady figure; parse5 needs half a minute for ten times as much. */
const BYTES_MAX = 20e6
const ROUNDS = 15
const SLOW_ROUNDS = 4

const options = parseOptions.parse({})

function indexOf(bytes: Buffer): number {
  const text = bytes.toString('latin1')
  let tags = 0
  for (let position = text.indexOf('<'); position !== -1; position = text.indexOf('<', position + 1)) tags++
  return tags
}

function ours(bytes: Buffer): number {
  return scanHtml(bytes, { charset: 'utf-8' }, options).spans.count
}

function oursAsText(bytes: Buffer): number {
  return scanHtml(bytes, { charset: 'utf-8' }, options).links.length
}

function htmlparser2(bytes: Buffer): number {
  let links = 0
  const parser = new Parser({
    onopentag(_name, attributes) {
      if (attributes['href'] !== undefined || attributes['src'] !== undefined) links++
    },
  })
  parser.end(bytes.toString('utf8'))
  return links
}

/** The tree alone; nobody has walked it yet. */
function parse5(bytes: Buffer): number {
  return parse(bytes.toString('utf8')).childNodes.length
}

function cpuSeconds(pages: readonly Buffer[], work: (bytes: Buffer) => number): { seconds: number; count: number } {
  const before = process.cpuUsage()
  let count = 0
  for (const page of pages) count += work(page)
  const { user, system } = process.cpuUsage(before)
  return { seconds: (user + system) / 1e6, count }
}

const candidates = { indexOf, ours, oursAsText, htmlparser2, parse5 }
const results: Record<string, Record<string, number>> = {}
for (const name of PACKAGES) {
  const pages: Buffer[] = []
  let bytes = 0
  for (const page of corpusPages([name])) {
    if (bytes > BYTES_MAX) break
    pages.push(page.bytes)
    bytes += page.bytes.length
  }
  if (pages.length === 0) continue
  const best: Record<string, number> = {}
  const counts: Record<string, number> = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [candidate, work] of Object.entries(candidates)) {
      if (round >= SLOW_ROUNDS && (work === htmlparser2 || work === parse5)) continue
      const { seconds, count } = cpuSeconds(pages, work)
      best[candidate] = Math.min(best[candidate] ?? Number.POSITIVE_INFINITY, seconds)
      counts[candidate] = count
    }
  }
  const bytesPerTag = bytes / (counts['indexOf'] as number)
  console.log(
    `${name}: ${pages.length} pages, ${(bytes / 1e6).toFixed(1)} MB, ${bytesPerTag.toFixed(1)} bytes per tag, ${counts['ours']} links`,
  )
  const figures: Record<string, number> = {}
  for (const [candidate, seconds] of Object.entries(best)) {
    figures[candidate] = Math.round(bytes / seconds / 1e6)
    console.log(
      `  ${candidate.padEnd(12)} ${String(figures[candidate]).padStart(6)} MB/s ${String(Math.round(pages.length / seconds)).padStart(8)} pages/s`,
    )
  }
  results[name] = figures
}
if (Object.keys(results).length === 0) {
  console.error('bench/parse: no page of the corpus can be had; nothing was measured')
  process.exitCode = 1
}
console.log(JSON.stringify({ bench: 'parse', megabytesPerSecond: results }))
