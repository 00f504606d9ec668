// How long do questions to the catalogue of a large crawl take, and what does it cost to make?
//
//   node bench/catalogue.ts [pages] [directory [lines]]          lines: writes those only
//
// Ten million pages by default, in a temporary directory with 4.5 GB of lines; a directory that is named is kept, and what stands in it
// used again. 20,000 hosts whose sizes follow Zipf's law, titles of words that do too, one in ten without. 200 random questions of every
// kind, timed from the main thread; then five of each kind with the files thrown out of the system's cache before every question.
// CPU is that of the whole process: on a machine that is busy with something else it says what a question takes, the time how long one waited.

import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalogue, type CatalogueDesk } from '../src/catalogue/index.ts'

const HOSTS = 20_000
const VOCABULARY = 60_000
const QUESTIONS = 200
const COLD_QUESTIONS = 5
const BAR_MS = 200

const pages = Number(process.argv[2] ?? 10_000_000)
const kept = process.argv[3]
const dir = kept ?? mkdtempSync(join(tmpdir(), 'portolan-bench-catalogue-'))

let seed = 1
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

/** Ranks by Zipf's law, near enough: the logarithm of the rank is even. */
function zipf(count: number): number {
  return Math.min(count - 1, Math.floor(Math.exp(random() * Math.log(count + 1))) - 1)
}

const SYLLABLES = [
  'ba',
  'chi',
  'do',
  'fen',
  'gra',
  'hu',
  'ka',
  'lem',
  'mo',
  'nir',
  'pol',
  'qui',
  'ra',
  'sto',
  'ti',
  'un',
  'ver',
  'wa',
  'xe',
  'zo',
]
const words = Array.from({ length: VOCABULARY }, (_, rank) => {
  let word = ''
  for (let rest = rank; rest > 0 || word === ''; rest = Math.floor(rest / SYLLABLES.length))
    word += SYLLABLES[rest % SYLLABLES.length]
  return word
})
const host = (rank: number): string =>
  `${words[rank % VOCABULARY]}${rank}.example.${rank % 3 === 0 ? 'org' : rank % 3 === 1 ? 'net' : 'de'}`
const TYPES = [
  'text/html',
  'application/pdf',
  'image/jpeg',
  'text/plain',
  'application/json',
  'text/css',
  'application/zip',
]
const STATUSES = [200, 301, 404, 302, 403, 500, 304, 410, 503]

function line(number: number): string {
  const url = `https://${host(zipf(HOSTS))}/${words[zipf(VOCABULARY)]}/${words[zipf(VOCABULARY)]}-${number}`
  let title = words[zipf(VOCABULARY)] ?? ''
  for (let i = zipf(9); i >= 0; i--) title += ` ${words[zipf(VOCABULARY)]}`
  const type = random() < 0.85 ? TYPES[0] : TYPES[zipf(TYPES.length)]
  const status = random() < 0.9 ? 200 : STATUSES[zipf(STATUSES.length)]
  const bytes = Math.floor(Math.exp(random() * 12))
  return `{"url":"${url}","status":${status},"type":"${type}","bytes":${bytes},"wireBytes":${bytes},"depth":${number % 9},"digest":"sha256:${'0123456789abcdef'.repeat(4)}","fetchedAt":"2026-11-16T12:00:00.000Z","via":null,${random() < 0.9 ? `"title":"${title}","language":"en",` : ''}"firstByteMs":${Math.floor(random() * 400)},"durationMs":80,"ip":"192.0.2.7","server":"nginx/1.22.1","warc":null}\n`
}

function failureLine(number: number): string {
  const url = `https://${host(zipf(HOSTS))}/gone/${number}`
  const [kind, reason] = random() < 0.3 ? ['failed', 'timeout'] : ['skipped', random() < 0.8 ? 'robots' : 'too-large']
  return `{"url":"${url}","kind":"${kind}","reason":"${reason}","detail":"","depth":3,"via":"https://${host(0)}/","at":"2026-11-16T12:00:00.000Z"}\n`
}

function write(name: string, lines: number, make: (number: number) => string): void {
  const path = join(dir, name)
  if (existsSync(path)) return
  const file = openSync(path, 'w')
  let held = ''
  for (let i = 0; i < lines; i++) {
    held += make(i)
    if (held.length > 2 ** 22 || i === lines - 1) {
      writeSync(file, held)
      held = ''
    }
  }
  closeSync(file)
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const round = (value: number, digits = 2): number => Number(value.toFixed(digits))

function spread(times: number[]): { p50: number; p99: number; max: number } {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
  return { p50: at(0.5), p99: at(0.99), max: round(sorted.at(-1) ?? 0) }
}

/** Out of the system's cache, as after a night. */
function forget(): void {
  for (const name of ['pages.jsonl', 'failures.jsonl', 'state/catalogue.sqlite']) {
    execFileSync('dd', [`if=${join(dir, name)}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
  }
}

const word = (): string => words[zipf(VOCABULARY)] ?? ''
const beginning = (): string => word().slice(0, 1 + Math.floor(random() * 5))
const after = (): string => String(1 + Math.floor(random() * pages))
const filters = {
  host: () => host(zipf(HOSTS)),
  status: () => STATUSES[zipf(STATUSES.length)] ?? 200,
  type: () => TYPES[zipf(TYPES.length)] ?? '',
  text: word,
}

function kinds(desk: CatalogueDesk): Record<string, () => Promise<unknown>> {
  const all: Record<string, () => Promise<unknown>> = {}
  const names = Object.keys(filters) as (keyof typeof filters)[]
  for (let set = 0; set < 2 ** names.length; set++) {
    const chosen = names.filter((_, i) => (set & (1 << i)) !== 0)
    const query = (): object => Object.fromEntries(chosen.map((name) => [name, filters[name]()]))
    all[`pages ${chosen.join(' + ') || 'all'}`] = () => desk.pages(query())
    all[`pages ${chosen.join(' + ') || 'all'}, midway`] = () => desk.pages({ ...query(), after: after() })
  }
  all['pages two words'] = () => desk.pages({ text: `${word()} ${word()}` })
  all['pages three words, 500'] = () => desk.pages({ text: `${word()} ${word()} ${beginning()}`, limit: 500 })
  all['pages beginning'] = () => desk.pages({ text: beginning() })
  all['pages beginning + rare host'] = () => desk.pages({ text: beginning(), host: host(HOSTS - 1 - zipf(1_000)) })
  all['pages beginning + large host + rare status'] = () =>
    desk.pages({ text: beginning(), host: host(zipf(5)), status: 503 })
  all['failures'] = () => desk.failures({ after: after() })
  all['failures host + kind'] = () => desk.failures({ host: filters.host(), kind: 'failed' })
  all['failures reason'] = () => desk.failures({ reason: 'too-large' })
  all['broken'] = () => desk.broken({})
  all['broken host'] = () => desk.broken({ host: filters.host() })
  for (const sort of ['pages', 'errors', 'bytes', 'time', 'host'] as const)
    all[`hosts by ${sort}`] = () => desk.hosts({ sort })
  all['hosts with text'] = () => desk.hosts({ text: beginning() })
  all['hosts with text that none has'] = () => desk.hosts({ text: 'yyyy' })
  all['host'] = () => desk.host(filters.host())
  all['statistics'] = () => desk.statistics()
  return all
}

interface Timed {
  readonly ms: number
  readonly cpuMs: number
}

async function time(question: () => Promise<unknown>): Promise<Timed> {
  const [before, beforeCpu] = [performance.now(), cpuSeconds()]
  await question()
  return { ms: performance.now() - before, cpuMs: 1_000 * (cpuSeconds() - beforeCpu) }
}

/** Of every kind so many questions. */
async function askAll(
  desk: CatalogueDesk,
  questions: number,
  isCold: boolean,
): Promise<{ byKind: Record<string, object>; worst: object }> {
  const byKind: Record<string, object> = {}
  const all: Timed[] = []
  for (const [name, question] of Object.entries(kinds(desk))) {
    const times: Timed[] = []
    for (let i = 0; i < (isCold || !name.endsWith('midway') ? questions : questions / 4); i++) {
      if (isCold) forget()
      times.push(await time(question))
    }
    all.push(...times)
    byKind[name] = { ms: spread(times.map(({ ms }) => ms)), cpuMs: spread(times.map(({ cpuMs }) => cpuMs)) }
    console.error(name, JSON.stringify(byKind[name]))
  }
  return { byKind, worst: { ms: spread(all.map(({ ms }) => ms)), cpuMs: spread(all.map(({ cpuMs }) => cpuMs)) } }
}

try {
  mkdirSync(join(dir, 'state'), { recursive: true })
  write('pages.jsonl', pages, line)
  write('failures.jsonl', Math.ceil(pages / 10), failureLine)
  if (process.argv[4] === 'lines') process.exit()
  rmSync(join(dir, 'state/catalogue.sqlite'), { force: true })
  seed = 7

  const desk = await openCatalogue(dir, { cpuShare: 1 })
  const [beforeMs, beforeCpu] = [performance.now(), cpuSeconds()]
  let peakRss = 0
  const whileBuilding: number[] = []
  for (let share = 0; share < 1;) {
    share = await desk.advance(1_000)
    peakRss = Math.max(peakRss, process.memoryUsage().rss)
    whileBuilding.push((await time(() => desk.pages({ text: word() }))).ms)
    console.error(round(share, 3), round(cpuSeconds() - beforeCpu), Math.round(peakRss / 2 ** 20))
  }
  const [builtMs, builtCpu] = [performance.now() - beforeMs, cpuSeconds() - beforeCpu]
  const lines = pages + Math.ceil(pages / 10)
  const databaseBytes = statSync(join(dir, 'state/catalogue.sqlite')).size
  const built = {
    lines,
    linesPerSecond: Math.round(lines / (builtMs / 1_000)),
    cpuMicrosecondsPerLine: round((builtCpu * 1e6) / lines),
    bytesPerLine: round(databaseBytes / lines, 1),
    inputBytesPerLine: round(
      (statSync(join(dir, 'pages.jsonl')).size + statSync(join(dir, 'failures.jsonl')).size) / lines,
      1,
    ),
    peakRssMb: Math.round(peakRss / 2 ** 20),
    askedMeanwhileMs: spread(whileBuilding),
  }
  console.error(JSON.stringify(built))

  const warm = await askAll(desk, QUESTIONS, false)
  const rssAfterMb = Math.round(process.memoryUsage().rss / 2 ** 20)
  await desk.close()

  const again = await openCatalogue(dir, { cpuShare: 1 })
  const opened = await time(() => again.pages({}))
  const cold = await askAll(again, COLD_QUESTIONS, true)
  await again.close()
  console.log(
    JSON.stringify({ pages, barMs: BAR_MS, built, rssAfterMb, firstAnswerAfterOpening: opened, warm, cold }, null, 1),
  )
} finally {
  if (kept === undefined) rmSync(dir, { recursive: true, force: true })
}
