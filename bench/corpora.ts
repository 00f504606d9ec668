// Does a crawl find every page of real sites, and no other? Debian's documentation packages are complete sites by the hands
// of many generators; each is served by nginx on a host of its own, crawled by Portolan, and walked by the reference walker.
//
//   npm run corpora -- [--only NAME,NAME] [--set FLAG=VALUE]… [--json FILE]
//
//     apt-get download + dpkg -x ─▶ files ─▶ nginx on 127.3.0.1, 127.3.0.2 … ─┬─▶ Portolan          ─▶ URL, status ┐
//                                                                             └─▶ reference walker  ─▶ URL, status ┴─▶ equal?
//
// --set gives Portolan a flag of the command line, to see what an option does to honest sites. Robots.txt is ignored on both sides.
// Every difference is printed, and ends with 1. A package that cannot be had is left out, and said.

import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort, runNginx } from '../test/crawl/nginx.ts'
import { crawl, FAST } from '../test/crawl/run-crawl.ts'
import { walk } from '../test/oracle/reference-walker.ts'
import { corpusDirectory } from './corpus.ts'

interface Site {
  readonly name: string
  /** Below the unpacked package. */
  readonly folder: string
  readonly start: string
  readonly by: string
}

const SITES: readonly Site[] = [
  { name: 'postgresql-doc-15', folder: 'usr/share/doc/postgresql-doc-15/html', start: '/', by: 'DocBook' },
  { name: 'python3.11-doc', folder: 'usr/share/doc/python3.11/html', start: '/', by: 'Sphinx' },
  { name: 'apache2-doc', folder: 'usr/share/doc/apache2-doc/manual', start: '/', by: 'XSLT, 11 languages, EUC-KR, symlinks' },
  { name: 'sqlite3-doc', folder: 'usr/share/doc/sqlite3', start: '/', by: 'Tcl' },
  { name: 'git-doc', folder: 'usr/share/doc/git-doc', start: '/', by: 'AsciiDoc' },
  { name: 'mhonarc', folder: 'usr/share/doc/mhonarc', start: '/', by: 'by hand, 1990s, no charset' },
  { name: 'libjlha-java-doc-ja', folder: 'usr/share/doc/libjlha-java-doc-ja/api', start: '/', by: 'Javadoc with frames, Shift_JIS' },
  { name: 'debian-policy', folder: 'usr/share/doc/debian-policy', start: '/policy.html/', by: 'Sphinx' },
  { name: 'debian-handbook', folder: 'usr/share/doc/debian-handbook/html', start: '/ja-JP/', by: 'Publican, Japanese' },
  { name: 'cppreference-doc-en-html', folder: 'usr/share/cppreference/doc/html', start: '/en/index.html', by: 'MediaWiki, names full of punctuation' },
  { name: 'libboost1.81-doc', folder: 'usr/share/doc/libboost1.81-doc/doc', start: '/html/', by: 'Quickbook, Doxygen, by hand' },
  { name: 'lilypond-doc-html', folder: 'usr/share/doc/lilypond/html', start: '/', by: 'texi2html' },
] // prettier-ignore

interface SiteResult {
  readonly name: string
  readonly by: string
  /** URLs the reference walker asked for, and how many of them by status. */
  readonly urls: number
  readonly statuses: Readonly<Record<string, number>>
  readonly missing: number
  readonly extra: number
  readonly otherStatus: number
  readonly megabytes: number
  readonly crawlSeconds: number
  readonly crawlCpuSeconds: number
  readonly walkCpuSeconds: number
}

const DIFFERENCES_SHOWN = 10

const { values } = parseArgs({
  options: { only: { type: 'string' }, set: { type: 'string', multiple: true, default: [] }, json: { type: 'string' } },
})
const only = values.only?.split(',')
const flags = Object.fromEntries(
  values.set.map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
)

const sites = SITES.filter(({ name }) => only === undefined || only.includes(name)).flatMap((site) => {
  const directory = corpusDirectory(site.name)
  return directory === null ? [] : [{ ...site, root: join(directory, site.folder) }]
})
const port = await freePort()
const folder = mkdtempSync(join(tmpdir(), 'portolan-corpora-'))
chmodSync(folder, 0o755)
const hosts = sites.map((_, index) => `127.3.0.${index + 1}`)
const server = await runNginx({
  folder,
  address: hosts[0] ?? '127.3.0.1',
  port,
  connectionsMax: 512,
  http: `
    default_type application/octet-stream;
    types { text/html html htm; text/css css; application/javascript js; image/png png; image/gif gif; image/jpeg jpg; image/svg+xml svg; text/plain txt; }
    access_log off; log_not_found off; absolute_redirect off; keepalive_requests 1000000; index index.html index.htm;
    ${sites.map(({ root }, index) => `server { listen ${hosts[index]}:${port}; root ${root}; }`).join('\n')}`,
})

const results: SiteResult[] = []
try {
  for (const [index, site] of sites.entries())
    results.push(await compared(site, `http://${hosts[index]}:${port}${site.start}`))
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

const machine = { cpu: cpus()[0]?.model ?? '', cores: cpus().length, load: loadavg()[0], node: process.version }
const result = { bench: 'corpora', at: new Date().toISOString(), machine, flags, sites: results }
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 2)}\n`)
console.log(JSON.stringify(result))
const isEqual = results.every(({ missing, extra, otherStatus }) => missing + extra + otherStatus === 0)
const isWhole = sites.length === (only?.length ?? SITES.length)
if (!isWhole) console.error(`corpora: ${sites.length} of ${only?.length ?? SITES.length} sites could be had`)
process.exitCode = isEqual && isWhole ? 0 : 1

async function compared({ name, by, root }: Site & { readonly root: string }, seed: string): Promise<SiteResult> {
  if (!existsSync(root)) throw new Error(`corpora: ${name} has no ${root}`)
  const dir = mkdtempSync(join(tmpdir(), 'portolan-corpora-crawl-'))
  try {
    const before = process.cpuUsage()
    const started = performance.now()
    const found = await crawl({ seeds: [seed], dir, flags: { ...FAST, robots: 'ignore', ...flags } })
    const crawlSeconds = (performance.now() - started) / 1e3
    const between = process.cpuUsage()
    const expected = await walk([seed])
    const ours = new Map(found.pages.map((page) => [page.url, page.status]))
    const reasons = new Map(found.failures.map((failure) => [failure.url, JSON.stringify(failure)]))
    const missing = [...expected.keys()].filter((url) => !ours.has(url))
    const extra = [...ours.keys()].filter((url) => !expected.has(url))
    const other = [...expected].filter(([url, status]) => ours.has(url) && ours.get(url) !== status).map(([url]) => url)
    show(
      'missing',
      missing.map((url) => `${url} ${expected.get(url)} ${reasons.get(url) ?? ''}`),
    )
    show(
      'extra',
      extra.map((url) => `${url} ${ours.get(url)}`),
    )
    show(
      'status',
      other.map((url) => `${url} ${ours.get(url)}, not ${expected.get(url)}`),
    )
    const statuses: Record<string, number> = {}
    for (const status of expected.values()) statuses[status] = (statuses[status] ?? 0) + 1
    const line = {
      name,
      by,
      urls: expected.size,
      statuses,
      missing: missing.length,
      extra: extra.length,
      otherStatus: other.length,
      megabytes: round(found.pages.reduce((sum, page) => sum + page.bytes, 0) / 1e6),
      crawlSeconds: round(crawlSeconds),
      crawlCpuSeconds: round(seconds(before, between)),
      walkCpuSeconds: round(seconds(between, process.cpuUsage())),
    }
    console.error(
      `${name}: ${line.urls} URLs ${JSON.stringify(statuses)}, ${line.megabytes} MB: missing ${line.missing}, extra ${line.extra}, other status ${line.otherStatus}; ` +
        `CPU ${line.crawlCpuSeconds} s, reference ${line.walkCpuSeconds} s`,
    )
    return line
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function show(what: string, lines: readonly string[]): void {
  for (const line of lines.slice(0, DIFFERENCES_SHOWN)) console.error(`  ${what} ${line}`)
  if (lines.length > DIFFERENCES_SHOWN) console.error(`  ${what} … and ${lines.length - DIFFERENCES_SHOWN} more`)
}

function seconds(from: NodeJS.CpuUsage, to: NodeJS.CpuUsage): number {
  return (to.user - from.user + to.system - from.system) / 1e6
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
