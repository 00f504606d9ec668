// The same pages, fetched by Portolan, wget2, Scrapy and Crawlee in one sitting: what does a page cost each of them?
//
//   npm run bench:peers                          all of it; installs what is missing, where it may
//   npm run bench:peers -- [--only portolan,wget2] [--origins plain,gzip,https] [--hosts 1,64,1000] [--pages 2048] [--long 12800]
//                          [--bytes 14000] [--runs 2] [--limit 60] [--json FILE] [--commit NAME, outside of git]
//
// nginx serves pages of the test web from files, 14 kB (or --bytes) with 35 links each (peers/origin.ts); each contender at its best settings
// (peers/*.ts); which pages were fetched is read from the server's log and compared with the truth (peers/judge.ts). Slow contenders
// run once, and gzip and https only on 64 hosts; the long webs, where starting up no longer counts, are for the others.
//
// CPU time is of the whole process tree, start and end included. Crawlers and server share the machine: pages a second are what
// the machine gave, CPU time is what compares.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import type { Contender } from './peers/contender.ts'
import { crawlee } from './peers/crawlee.ts'
import { bring, needServer } from './peers/install.ts'
import { ORIGIN_KINDS, type OriginKind, type OriginOptions } from './peers/origin.ts'
import { portolanVariants } from './peers/portolan.ts'
import { scrapy } from './peers/scrapy.ts'
import { bestOf, type Result, sit, type Sitting } from './peers/sitting.ts'
import { versionFrom } from './peers/version-from.ts'
import { wget2 } from './peers/wget2.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    origins: { type: 'string', default: ORIGIN_KINDS.join(',') },
    hosts: { type: 'string', default: '1,64,1000' },
    pages: { type: 'string', default: '2048' },
    long: { type: 'string', default: '12800' },
    bytes: { type: 'string', default: '14000' },
    runs: { type: 'string', default: '2' },
    limit: { type: 'string', default: '60' },
    json: { type: 'string' },
    commit: { type: 'string' },
  },
})
/** Of the long webs, and of those that slow contenders meet in every kind. */
const USUAL_HOSTS = 64

interface Planned {
  readonly origin: OriginOptions
  readonly contenders: readonly Contender[]
}

const leftOut: Record<string, string> = {}
const startedAt = new Date()
needServer()
const contenders = takingPart()
const sittings: (Sitting & { readonly leftOut: readonly string[] })[] = []
for (const { origin, contenders: chosen } of plan()) {
  const absent = contenders.filter((one) => !chosen.includes(one)).map((one) => one.name)
  console.log(
    `\n${origin.kind}, ${origin.hosts} hosts, ${origin.hosts * origin.pages} pages` +
      (absent.length === 0 ? '' : `; left out because slow: ${absent.join(', ')}`),
  )
  console.log(headLine())
  const sitting = await sit({
    origin,
    contenders: chosen,
    runs: Number(values.runs),
    limitSeconds: Number(values.limit),
    onResult: (result) => console.log(lineOf(result)),
  })
  sittings.push({ ...sitting, leftOut: absent })
  save()
}

console.log('\nBest run of each, CPU µs a page:')
for (const { origin, pages, results } of sittings) {
  const figures = bestOf(results).map((one) => `${one.contender} ${one.cpuMicrosPerPage}`)
  console.log(
    `${origin.kind.padEnd(5)} ${String(origin.hosts).padStart(5)} hosts ${String(pages).padStart(6)} pages: ${figures.join(', ')}`,
  )
}
for (const [name, why] of Object.entries(leftOut)) console.log(`${name} was left out: ${why}`)
/** After every sitting: a run that is stopped in the middle is not lost. */
function save(): void {
  if (values.json === undefined) return
  const about = {
    bench: 'peers',
    date: startedAt.toISOString(),
    minutes: Math.round((Date.now() - startedAt.getTime()) / 6_000) / 10,
    machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    node: process.version,
    nginx: nginxVersion(),
    commit: values.commit ?? versionFrom('git', ['rev-parse', '--short', 'HEAD'], /(\S+)/),
    options: values,
    contenders: contenders.map(({ name, version, settings, keeps }) => ({ name, version, settings, keeps })),
    leftOut,
  }
  writeFileSync(values.json, `${JSON.stringify({ ...about, sittings }, null, 1)}\n`)
}

/** Everybody who is wanted and here, or can be brought. */
function takingPart(): Contender[] {
  const wanted = values.only.split(',').filter((word) => word !== '')
  const makers: (() => Contender[])[] = [
    portolanVariants,
    () => [wget2()],
    () => [scrapy('manual'), scrapy('bare')],
    () => [crawlee('manual'), crawlee('bare')],
  ]
  return makers.flatMap((make) => {
    const [first] = make()
    if (first === undefined || (wanted.length > 0 && !wanted.some((word) => first.name.startsWith(word)))) return []
    const problem = first.version === null ? bring(first) : null
    const made = make()
    if (made.every((one) => one.version !== null)) return made
    leftOut[first.name] = problem ?? 'it was installed, but does not start'
    return []
  })
}

function plan(): Planned[] {
  const kinds = values.origins
    .split(',')
    .filter((word): word is OriginKind => ORIGIN_KINDS.some((kind) => kind === word))
  const fast = contenders.filter((one) => !one.isSlow)
  const bytes = Number(values.bytes)
  const planned: Planned[] = []
  for (const hosts of values.hosts
    .split(',')
    .filter((word) => word !== '')
    .map(Number)) {
    const pages = Math.ceil(Number(values.pages) / hosts)
    for (const kind of kinds) {
      const isForAll = kind === 'plain' || hosts === USUAL_HOSTS
      planned.push({ origin: { kind, hosts, pages, bytes }, contenders: isForAll ? contenders : fast })
    }
  }
  if (Number(values.long) === 0) return planned
  const pages = Math.ceil(Number(values.long) / USUAL_HOSTS)
  return [
    ...planned,
    ...kinds.map((kind) => ({ origin: { kind, hosts: USUAL_HOSTS, pages, bytes }, contenders: fast })),
  ]
}

function nginxVersion(): string {
  const { stderr } = spawnSync('/usr/sbin/nginx', ['-v'], { encoding: 'utf8' })
  return /nginx\/(\S+)/.exec(stderr ?? '')?.[1] ?? 'unknown'
}

function headLine(): string {
  return `${'crawler'.padEnd(36)} pages/s  CPU µs/page  server's  RSS MB  written MB  kept MB  missing  extra  again  seconds  load`
}

function lineOf(one: Result): string {
  const { verdict } = one
  const cells: [number, number][] = [
    [one.pagesPerSecond, 7],
    [one.cpuMicrosPerPage, 11],
    [one.serverMicrosPerPage, 8],
    [one.peakRssMegabytes, 6],
    [one.writtenMegabytes, 10],
    [one.keptMegabytes, 7],
    [verdict.missing, 7],
    [verdict.extra, 5],
    [verdict.repeated, 5],
    [one.seconds, 7],
    [one.load, 4],
  ]
  const remarks = [
    ...(one.isCutShort ? ['cut short'] : []),
    ...(one.exitCode === 0 ? [] : [`ended with ${one.exitCode}`]),
    ...verdict.examples.slice(0, 2),
  ]
  return (
    one.contender.padEnd(36) +
    cells.map(([value, width]) => ` ${String(value).padStart(width)}`).join(' ') +
    (remarks.length === 0 ? '' : `  ${remarks.join('; ')}`)
  )
}
