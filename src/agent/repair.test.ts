// Damage to any part of a crawl is found, said, and put right where it can be: afterwards the crawl opens and goes on to every
// page it had or would have had, and what was cut off or replaced is still there.

import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, afterAll } from 'vitest'
import { checkArchive } from '../../test/archive-check.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { Random, systemClock } from '../base/index.ts'
import { readConfig, SECTIONS } from '../config/index.ts'
import { DiskFrontier } from '../frontier/index.ts'
import { emptyBatch, lookAtLastBatch, SegmentedJournal } from '../ledger/index.ts'
import { inspectDirectory, repairCrawl } from './repair.ts'
import type { CrawlSettings } from './options.ts'

const FLAGS = { ...FAST, warc: 'gzip' }
const CONFIG = { ...QUICK_BACKOFF, agent: { tick: '5ms' } }
let web: TestWeb
/** Stopped in the middle and closed; and as a killed process leaves it, the last checkpoint of the frontier long ago. */
let stopped = ''
let killed = ''

beforeAll(async () => {
  web = await startTestWeb({ hosts: 12, pages: 30, crossHostShare: 0.2, meanBytes: 3_000, robots: { some: 0.3 } })
  const cleanups: (() => void)[] = []
  stopped = temporaryDirectory((fn) => cleanups.push(fn))
  killed = temporaryDirectory((fn) => cleanups.push(fn))
  await crawl({ seeds: web.seeds(), dir: stopped, flags: { ...FLAGS, 'max-pages': '100' }, config: CONFIG })
  rmSync(killed, { recursive: true })
  cpSync(stopped, killed, { recursive: true })
  let copied = false
  await crawl({
    seeds: [],
    dir: killed,
    flags: { ...FLAGS, 'max-pages': '200' },
    config: CONFIG,
    during: (job) => {
      const timer = setInterval(() => {
        if (job.figures.pages < 175 || copied) return
        clearInterval(timer)
        copied = true
        // What lies on disk at this moment is what a kill leaves.
        cpSync(killed, `${killed}-now`, { recursive: true, filter: (path) => !/\/(?:lock|pid)$/.test(path) })
      }, 1)
    },
  })
  rmSync(killed, { recursive: true })
  cpSync(`${killed}-now`, killed, { recursive: true })
  rmSync(`${killed}-now`, { recursive: true })
  afterAllDo.push(...cleanups)
})
const afterAllDo: (() => void)[] = []
afterAll(async () => {
  for (const fn of afterAllDo) fn()
  await web.stop()
})

function copyOf(dir: string): string {
  const copy = temporaryDirectory(onTestFinished)
  rmSync(copy, { recursive: true })
  cpSync(dir, copy, { recursive: true })
  return copy
}

function settingsOf(): CrawlSettings {
  const result = readConfig(SECTIONS, {
    flags: new Map(Object.entries(FLAGS)),
    environment: {},
    file: { name: 'test', content: CONFIG },
  })
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems))
  return result.config
}

function repair(dir: string): ReturnType<typeof repairCrawl> {
  return repairCrawl({ dir, settings: settingsOf(), clock: systemClock, random: new Random('repair') })
}

function inspect(dir: string): ReturnType<typeof inspectDirectory> {
  return inspectDirectory({ dir, clock: systemClock })
}

function goOn(dir: string): Promise<CrawlResult> {
  return crawl({ seeds: [], dir, flags: FLAGS, config: CONFIG })
}

/** Every page of the truth once, every figure in order, a valid archive. */
function expectWhole({ dir, pages, failures, snapshot }: CrawlResult): void {
  const truth = web.truth()
  expect(pages.map(({ url }) => url).toSorted()).toEqual([...truth.pages.keys()].toSorted())
  expect(failures.map(({ url }) => url).toSorted()).toEqual([...truth.skipped.keys()].toSorted())
  const { figures } = snapshot
  expect(figures.settled).toBe(figures.admitted)
  expect(figures.pages).toBe(pages.length)
  expect(snapshot.frontier.hosts).toBe(12)
  expect(checkArchive(dir).problems).toEqual([])
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  const place = at < 0 ? bytes.length + at : at
  bytes[place] = (bytes[place] ?? 0) ^ 0x10
  writeFileSync(path, bytes)
}

function fileIn(folder: string, pattern: RegExp): string {
  const name = readdirSync(folder)
    .toSorted()
    .findLast((one) => pattern.test(one))
  if (name === undefined) throw new Error(`${folder} has no ${String(pattern)}`)
  return join(folder, name)
}

async function expectOpensNot(dir: string): Promise<void> {
  await expect(goOn(dir)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
}

test('a crawl that is whole is said to be, and nothing is changed', async () => {
  for (const dir of [copyOf(stopped), copyOf(killed)]) {
    const before = readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted()
    const { isSound, parts, obstacles } = await inspect(dir)
    expect(parts.filter(({ state }) => state !== 'whole')).toEqual([])
    expect({ isSound, obstacles }).toEqual({ isSound: true, obstacles: [] })
    expect(await repair(dir)).toMatchObject({ movedTo: null })
    expect(readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted()).toEqual(before)
    expectWhole(await goOn(dir))
  }
})

describe.each(['stopped', 'killed'])('a crawl that was %s', (kind) => {
  const make = (): string => copyOf(kind === 'stopped' ? stopped : killed)

  test.each([0.2, 0.5, 0.8, 0.99])('the journal damaged at %d of its length', async (share) => {
    const dir = make()
    const path = fileIn(join(dir, 'state/journal'), /\.log$/)
    flip(path, Math.floor(statSync(path).size * share))
    const found = await inspect(dir)
    if (found.isSound) {
      // The last batch is the only one whose damage looks like a crash.
      expect(share).toBe(0.99)
      return expectWhole(await goOn(dir))
    }
    await expectOpensNot(dir)
    if (found.obstacles.length > 0) {
      // The damage may lie in the very first batch.
      expect(share).toBe(0.2)
      return
    }
    const { movedTo } = await repair(dir)
    expect(readdirSync(movedTo ?? '').some((name) => name.startsWith('batches-'))).toBe(true)
    expect((await inspect(dir)).parts.filter(({ state }) => state !== 'whole')).toEqual([])
    expectWhole(await goOn(dir))
  })

  test('the journal has lost its end, and the frontier is ahead of it', async () => {
    const dir = make()
    const path = fileIn(join(dir, 'state/journal'), /\.log$/)
    const pagesBefore = readFileSync(join(dir, 'pages.jsonl'), 'utf8').split('\n').length
    truncateSync(path, Math.floor(statSync(path).size / 2))
    const { movedTo, again, waiting } = await repair(dir)
    expect(movedTo).not.toBe(null)
    expect(waiting).toBeGreaterThan(0)
    const pagesAfter = readFileSync(join(dir, 'pages.jsonl'), 'utf8').split('\n').length
    expect(pagesAfter).toBeLessThanOrEqual(pagesBefore)
    expect(again).toBeGreaterThan(0)
    expectWhole(await goOn(dir))
  })

  test.each(['flipped', 'cut', 'missing'])('a run of the seen set %s', async (how) => {
    const dir = make()
    damage(fileIn(join(dir, 'state/seen'), /\.run$/), how)
    await expectOpensNot(dir)
    const { inspection, movedTo } = await repair(dir)
    expect(inspection.parts.filter(({ state }) => state === 'damaged')).toMatchObject([{ part: 'seen set' }])
    expect(existsSync(join(movedTo ?? '', 'seen'))).toBe(true)
    expectWhole(await goOn(dir))
  })

  test.each(['flipped', 'cut', 'missing'])('a run of the contents %s', async (how) => {
    const dir = make()
    damage(fileIn(join(dir, 'state/contents'), /\.run$/), how)
    const { inspection } = await repair(dir)
    expect(inspection.parts.filter(({ state }) => state === 'damaged')).toMatchObject([{ part: 'contents' }])
    expectWhole(await goOn(dir))
  })

  test('any file of the frontier flipped, cut or missing: what can be read is kept', async () => {
    const outcomes = { whole: 0, saved: 0, hopeless: 0 }
    const original = make()
    const files = readdirSync(join(original, 'state/frontier')).filter((name) => /^(?:\d|MANIFEST|CURRENT)/.test(name))
    const pagesBefore = pageUrlsIn(original)
    for (const file of files) {
      for (const how of ['missing', 'cut', 0.3]) {
        const dir = copyOf(original)
        const path = join(dir, 'state/frontier', file)
        if (typeof how === 'string') damage(path, how)
        else flip(path, Math.floor(statSync(path).size * how))
        const { inspection, movedTo } = await repair(dir)
        const what = `${file} ${how}: ${JSON.stringify(inspection.parts.filter(({ state }) => state === 'damaged'))}`
        if (inspection.obstacles.length > 0) {
          outcomes.hopeless++
          expect(movedTo, what).toBe(null)
          continue
        }
        const isWhole = inspection.isSound
        if (!isWhole) expect(existsSync(join(movedTo ?? '', 'frontier')), what).toBe(true)
        const result = await goOn(dir)
        const { figures } = result.snapshot
        if (isWhole) {
          expectWhole(result)
          outcomes.whole++
          continue
        }
        outcomes.saved++
        const urls = result.pages.map(({ url }) => url)
        expect(new Set(urls).size, what).toBe(urls.length)
        expect(
          [...pagesBefore].filter((url) => !urls.includes(url)),
          what,
        ).toEqual([])
        const truth = web.truth().pages
        expect(
          urls.filter((url) => !truth.has(url as never)),
          what,
        ).toEqual([])
        expect(figures.settled, what).toBe(figures.admitted)
        expect(checkArchive(dir).problems, what).toEqual([])
        // Nothing said to be lost: nothing is.
        if (!/lost/.test(what)) expectWhole(result)
      }
    }
    expect(outcomes.saved).toBeGreaterThan(0)
  })

  test('the frontier missing: the journal has every batch, so the crawl goes on, and so it is said', async () => {
    const dir = make()
    rmSync(join(dir, 'state/frontier'), { recursive: true })
    const { movedTo, inspection } = await repair(dir)
    expect(inspection).toMatchObject({ isSound: true, obstacles: [] })
    expect(inspection.parts.find(({ part }) => part === 'frontier')?.what).toMatch(/^missing, but the journal knows/)
    expect(movedTo).toBe(null)
    expectWhole(await goOn(dir))
  })

  test('nothing of the frontier can be opened: made anew from a journal that has every batch, nothing is lost', async () => {
    const dir = make()
    rmSync(join(dir, 'state/frontier'), { recursive: true })
    mkdirSync(join(dir, 'state/frontier'))
    writeFileSync(join(dir, 'state/frontier/made'), '')
    const { inspection, movedTo, lost } = await repair(dir)
    const damaged = inspection.parts.find(({ state }) => state === 'damaged')
    expect(damaged).toMatchObject({
      part: 'frontier',
      what: expect.stringContaining(`${dir}/state/frontier`) as string,
    })
    expect(damaged?.remedy).toMatch(/and the journal, which knows the others$/)
    expect({ lost, isMoved: movedTo !== null }).toEqual({ lost: 0, isMoved: true })
    expectWhole(await goOn(dir))
  })

  test('anything behind what was committed is no damage, and does not stop a repair of other parts', async () => {
    const dir = make()
    for (const name of ['pages.jsonl', 'failures.jsonl', 'state/seeds.jsonl']) {
      appendFileSync(join(dir, name), 'no JSON\n{"half')
    }
    expect((await inspect(dir)).isSound).toBe(true)
    expectWhole(await goOn(copyOf(dir)))
    const path = fileIn(join(dir, 'state/journal'), /\.log$/)
    truncateSync(path, Math.floor(statSync(path).size / 2))
    rmSync(join(dir, 'state/seen'), { recursive: true })
    expect((await repair(dir)).movedTo).not.toBe(null)
    expectWhole(await goOn(dir))
  })

  test('seen set and contents gone, the journal cut: all at once', async () => {
    const dir = make()
    rmSync(join(dir, 'state/seen'), { recursive: true })
    rmSync(join(dir, 'state/contents'), { recursive: true })
    const path = fileIn(join(dir, 'state/journal'), /\.log$/)
    truncateSync(path, Math.floor(statSync(path).size * 0.7))
    await repair(dir)
    expectWhole(await goOn(dir))
  })

  test.each(['pages.jsonl', 'failures.jsonl', 'state/index.cdxj'])('%s too short: nothing is touched', async (name) => {
    const dir = make()
    truncateSync(join(dir, name), Math.floor(statSync(join(dir, name)).size / 2))
    const { inspection, movedTo } = await repair(dir)
    expect(movedTo).toBe(null)
    expect(inspection.obstacles).toEqual([expect.stringContaining(`${name}: it is`)])
  })

  test('an archive that pages speak of is missing: said, and nothing is touched', async () => {
    const dir = make()
    rmSync(fileIn(join(dir, 'archive'), /\.warc/))
    expect((await repair(dir)).inspection.obstacles).toEqual([expect.stringContaining('is missing')])
  })

  test('what can be begun anew is', async () => {
    const dir = make()
    for (const name of ['state/robots.jsonl', 'state/links.log']) truncateSync(join(dir, name), 10)
    await expectOpensNot(dir)
    expect((await repair(dir)).movedTo).not.toBe(null)
    expectWhole(await goOn(dir))
  })
})

describe('a crawl whose journal has forgotten what the other parts hold', () => {
  let forgetful = ''
  beforeAll(async () => {
    forgetful = temporaryDirectory((fn) => afterAllDo.push(fn))
    rmSync(forgetful, { recursive: true })
    cpSync(killed, forgetful, { recursive: true })
    await crawl({ seeds: [], dir: forgetful, flags: { ...FLAGS, 'max-pages': '225' }, config: CONFIG })
    // Opening has LevelDB make tables of what was written last, so that there is something to damage.
    const { delay: delayMs, ipDelay: ipDelayMs, ipConnections, urlsPerTurn } = settingsOf().frontier
    const store = { directory: join(forgetful, 'state/frontier'), memoryBytes: 2 ** 22, clock: systemClock }
    await (await DiskFrontier.open({ ...store, delayMs, ipDelayMs, ipConnections, urlsPerTurn })).close()
    const directory = join(forgetful, 'state/journal')
    const last = await lookAtLastBatch(directory)
    const create = (): never => {
      throw new Error('there is one')
    }
    const journal = await SegmentedJournal.open({ directory, random: new Random('forget'), create, segmentBytes: 1 })
    await journal.commit({ ...emptyBatch(), ...last?.batch, admitted: [], pages: [], ended: [], rests: [] })
    await journal.forget(journal.lastNumber - 1)
    await journal.close()
    expect(existsSync(join(directory, 'batches-0000000001.log'))).toBe(false)
  })

  test('is whole', async () => {
    expect((await inspect(forgetful)).isSound).toBe(true)
    expectWhole(await goOn(copyOf(forgetful)))
  })

  test('the frontier missing: said, and nothing is touched', async () => {
    const dir = copyOf(forgetful)
    rmSync(join(dir, 'state/frontier'), { recursive: true })
    const { movedTo, inspection } = await repair(dir)
    expect(movedTo).toBe(null)
    expect(inspection.obstacles).toEqual([expect.stringContaining('the journal does not know all of them')])
    await expectOpensNot(dir)
  })

  test('a repair that died between moving the frontier aside and naming the new one can be done again', async () => {
    const dir = copyOf(forgetful)
    damage(fileIn(join(dir, 'state/frontier'), /\.ldb$/), 'cut')
    const done = copyOf(dir)
    const first = await repair(done)
    expect(first.movedTo).not.toBe(null)
    // All steps but the last rename and the batch.
    for (const part of ['seen', 'frontier']) {
      cpSync(join(dir, 'state', part), join(dir, 'state/damaged-then', part), { recursive: true })
      rmSync(join(dir, 'state', part), { recursive: true })
    }
    cpSync(join(done, 'state/frontier'), join(dir, 'state/frontier.rebuilt'), { recursive: true })
    cpSync(join(done, 'state/seen'), join(dir, 'state/seen'), { recursive: true })
    expect((await inspect(dir)).obstacles).toEqual([])
    expect(existsSync(join(dir, 'state/frontier'))).toBe(false)
    expect(await repair(dir)).toMatchObject({ waiting: first.waiting, lost: first.lost })
    expect(readdirSync(join(dir, 'state')).filter((name) => name.startsWith('frontier'))).toEqual(['frontier'])
    expect((await inspect(dir)).parts.filter(({ state }) => state !== 'whole')).toEqual([])
    const [once, twice] = [await goOn(done), await goOn(dir)]
    expect(twice.pages.map(({ url }) => url).toSorted()).toEqual(once.pages.map(({ url }) => url).toSorted())
    expect(twice.snapshot.figures.settled).toBe(twice.snapshot.figures.admitted)
  })

  test('what is said to be lost is at least what is', async () => {
    let said = 0
    const table = fileIn(join(forgetful, 'state/frontier'), /\.ldb$/)
    for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      const dir = copyOf(forgetful)
      flip(join(dir, relative(forgetful, table)), Math.floor(statSync(table).size * share))
      const { inspection, lost } = await repair(dir)
      const remedy = inspection.parts.find(({ part }) => part === 'frontier')?.remedy ?? ''
      const [, most] = /up to (\d+) URLs are lost/.exec(remedy) ?? []
      if (/lost/.test(remedy)) said++
      if (!/(?:may|between) (?:be|are) lost/.test(remedy)) expect(lost, remedy).toBeLessThanOrEqual(Number(most ?? 0))
    }
    expect(said).toBeGreaterThan(0)
  })
})

test('no batch of the journal can be read: said, and nothing is touched', async () => {
  const dir = copyOf(stopped)
  const path = fileIn(join(dir, 'state/journal'), /\.log$/)
  truncateSync(path, 40)
  const before = readFileSync(path)
  const { inspection, movedTo } = await repair(dir)
  expect(movedTo).toBe(null)
  expect(inspection.obstacles.length).toBeGreaterThan(0)
  expect(readFileSync(path)).toEqual(before)
})

test('the journal has lost all its batches but not its head: not taken for a crawl that begins', async () => {
  const dir = copyOf(stopped)
  const path = fileIn(join(dir, 'state/journal'), /\.log$/)
  truncateSync(path, 600)
  expect(await lookAtLastBatch(join(dir, 'state/journal'))).toBe(null)
  await expectOpensNot(dir)
  expect((await inspect(dir)).obstacles).toEqual([expect.stringContaining('the journal has no batch left')])
})

test('a repair is refused while somebody works in the directory', async () => {
  const dir = copyOf(stopped)
  const tries: Promise<unknown>[] = []
  await crawl({
    seeds: [],
    dir,
    flags: { ...FLAGS, 'max-pages': '210' },
    config: CONFIG,
    during: () => {
      tries.push(inspect(dir), repair(dir))
      for (const one of tries) one.catch(() => undefined)
    },
  })
  for (const result of await Promise.allSettled(tries)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'LEDGER_LOCKED' } })
  }
})

function pageUrlsIn(dir: string): Set<string> {
  const lines = readFileSync(join(dir, 'pages.jsonl'), 'utf8').split('\n').slice(0, -1)
  return new Set(lines.map((line) => (JSON.parse(line) as { url: string }).url))
}

function damage(path: string, how: string): void {
  if (how === 'missing') rmSync(path)
  else if (how === 'cut') truncateSync(path, Math.floor(statSync(path).size / 2))
  else flip(path, Math.floor(statSync(path).size / 3))
}
