// Do the detectors of traps harm honest sites, and what do they cost for a page?
//
//   node bench/traps.ts                                  documentation of every kind
//   node bench/traps.ts openjdk-17-doc rust-doc          these packages
//
// Every Debian documentation package is a site: walked breadth-first by its own links, as a crawl would, judged and
// learnt from with the default settings; what no link reaches comes in the end. Whatever is refused is harm, and the
// bar is 0. Cost is CPU time of judging and learning, without the parser and without the SimHash (bench/simhash.ts).

import { systemClock } from '../src/base/index.ts'
import { scanHtml } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { type Lesson, TrapWatch } from '../src/traps/index.ts'
import { trapsOptions } from '../src/traps/options.ts'
import { BaseUrl, canonicalise, type CanonicalUrl, type HostKey, hostKeyOf } from '../src/url/index.ts'
import { corpusPages } from './corpus.ts'

const PACKAGES = process.argv.slice(2)
const USUAL = [
  'postgresql-doc-15',
  'python3.11-doc',
  'apache2-doc',
  'debian-policy',
  'sqlite3-doc',
  'libboost1.81-doc',
  'cppreference-doc-en-html',
  'lilypond-doc-html',
  'git-doc',
  'libjlha-java-doc-ja',
]
const ROUNDS = 7
const HTML = parseOptions.parse({})
const OPTIONS = trapsOptions.parse({})

interface Result {
  readonly pages: number
  readonly refused: Readonly<Record<string, number>>
  readonly microseconds: number
}

/** All pages of a package by the URL they would have; those of a directory also by its own. */
function siteOf(name: string): Map<CanonicalUrl, Buffer> {
  const site = new Map<CanonicalUrl, Buffer>()
  for (const { path, bytes } of corpusPages([name])) {
    const url = canonicalise(`http://${name}.example.org${path.slice(name.length + 1)}`)
    if (typeof url === 'string') site.set(url, bytes)
  }
  return site
}

function newWatch(): Promise<TrapWatch> {
  return TrapWatch.open({
    options: OPTIONS,
    budgets: { hosts: null, pages: null },
    clock: systemClock,
    pagesOf: () => 0,
    path: '/nowhere/traps.jsonl',
  })
}

/** Microseconds of judging and learning for one page, best of several rounds. */
async function costOf(lessons: readonly Lesson[]): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round++) {
    const watch = await newWatch()
    const before = process.cpuUsage()
    for (const lesson of lessons) {
      watch.judge({ url: lesson.url, host: lesson.host, isSeed: false })
      watch.learn(lesson)
    }
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / lessons.length)
  }
  return best
}

async function walk(name: string, site: ReadonlyMap<CanonicalUrl, Buffer>): Promise<Result> {
  const watch = await newWatch()
  const met = new Set<CanonicalUrl>()
  const line: { url: CanonicalUrl; via: CanonicalUrl | null }[] = []
  const refused: Record<string, number> = {}
  const lessons: Lesson[] = []
  const others = site.keys()
  for (let at = 0; ; at++) {
    while (at === line.length) {
      const next = others.next()
      if (next.done === true) return { pages: lessons.length, refused, microseconds: await costOf(lessons) }
      if (!met.has(next.value)) line.push({ url: next.value, via: null })
      met.add(next.value)
    }
    const { url, via } = line[at] as (typeof line)[number]
    const bytes = site.get(url) as Buffer
    const host = hostKeyOf(url)
    const parsed = scanHtml(bytes, { charset: null }, HTML)
    const base = BaseUrl.ofPage(url, parsed.baseHref)
    const leads: { url: CanonicalUrl; host: HostKey; via: CanonicalUrl }[] = []
    for (const { href } of parsed.links) {
      const link = canonicalise(href, base, parsed.encoding)
      if (typeof link !== 'string' || met.has(link) || !site.has(link)) continue
      met.add(link)
      leads.push({ url: link, host: hostKeyOf(link), via: url })
    }
    const candidate = { url, host, isSeed: false }
    const trap = watch.judge(candidate)
    const lesson: Lesson = {
      ...candidate,
      via,
      status: 200,
      sketch: parsed.sketch,
      title: parsed.title,
      charset: null,
      leads,
      leadsAway: 0,
      spans: parsed.spans,
      html: null,
    }
    watch.learn(lesson)
    lessons.push(lesson)
    for (const lead of leads) line.push(lead)
    if (trap === null) continue
    refused[trap.reason] = (refused[trap.reason] ?? 0) + 1
    if (refused[trap.reason] === 1) console.log(`${name}: ${url} ${trap.reason} (${trap.detail})`)
  }
}

const results: Record<string, Result> = {}
let refusals = 0
for (const name of PACKAGES.length === 0 ? USUAL : PACKAGES) {
  const site = siteOf(name)
  if (site.size === 0) continue
  const result = await walk(name, site)
  results[name] = result
  const harm = Object.values(result.refused).reduce((sum, count) => sum + count, 0)
  refusals += harm
  console.log(
    `${name.padEnd(28)} ${String(result.pages).padStart(6)} pages ${String(harm).padStart(6)} refused ${result.microseconds.toFixed(1).padStart(6)} µs a page`,
  )
}
if (Object.keys(results).length === 0 || refusals > 0) process.exitCode = 1
console.log(JSON.stringify({ bench: 'traps', refusals, sites: results }))
