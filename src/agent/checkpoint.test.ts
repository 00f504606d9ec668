// A copy is the crawl as it was after one batch: it goes on to the whole truth by itself, and so does the original,
// and neither touches a byte of the other.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { link, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { checkArchive } from '../../test/archive-check.ts'
import { crawl, type CrawlResult, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { canMountSmallDisk, mountSmallDisk, unmount } from '../../test/small-disk.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { systemClock } from '../base/index.ts'
import { type CheckpointFigures, copyStoppedCrawl } from './checkpoint.ts'
import type { Crawl } from './crawl.ts'

const GZIP = { ...FAST, warc: 'gzip' }
/** WARC files of a few pages, so that there are finished ones to link. */
const SMALL_FILES = { frontier: { backoff: '5ms' }, store: { warcSize: '64kB' }, agent: { tick: '20ms' } }
const clock = { nowMs: () => systemClock.nowMs() }

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

/** Calls back once, when the crawl has got this far. */
function whenPages(job: Crawl, pages: number, then: () => void): void {
  const timer = setInterval(() => {
    if (job.figures.pages < pages) return
    clearInterval(timer)
    then()
  }, 1)
}

function expectWhole({ pages, snapshot, dir }: CrawlResult, web: TestWeb): void {
  expect(pages.map(({ url }) => url).toSorted()).toEqual([...web.truth().pages.keys()].toSorted())
  expect(snapshot.figures.settled).toBe(snapshot.figures.admitted)
  expect(checkArchive(dir).problems).toEqual([])
}

/** Every file that has two names, with a digest of what is in it. */
function sharedFiles(dir: string): Map<string, string> {
  const shared = new Map<string, string>()
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name)
    const found = statSync(path)
    if (!found.isFile() || found.nlink < 2) continue
    shared.set(name, createHash('sha256').update(readFileSync(path)).digest('hex'))
  }
  return shared
}

test('taken in the middle of a crawl: copy and original both go on to exactly the truth', async () => {
  const web = await startWeb({ hosts: 4, pages: 150, crossHostShare: 0.2 })
  const dir = temporaryDirectory(onTestFinished)
  const to = join(dir, 'checkpoints/one')
  const copied: Promise<CheckpointFigures>[] = []
  let shared = new Map<string, string>()
  const original = await crawl({
    seeds: web.seeds(),
    dir,
    flags: GZIP,
    config: SMALL_FILES,
    during: (job) => {
      whenPages(job, 150, () => {
        const copying = job.checkpoint(to).then((figures) => {
          shared = sharedFiles(to)
          return figures
        })
        // Awaited below.
        copying.catch(() => undefined)
        copied.push(copying)
      })
    },
  })
  expect(await Promise.all(copied)).toMatchObject([{ to }])
  expectWhole(original, web)
  // Finished archives at least are shared, and nothing that is shared has changed since.
  expect(shared.size).toBeGreaterThan(0)
  const still = new Map(
    [...shared.keys()].map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(to, name)))
        .digest('hex'),
    ]),
  )
  expect(still).toEqual(shared)

  const begunWith = readFileSync(join(to, 'pages.jsonl'), 'utf8').split('\n').length - 1
  expect(begunWith).toBeGreaterThanOrEqual(100)
  expect(begunWith).toBeLessThan(original.pages.length)
  const before = sharedFiles(dir)
  const copy = await crawl({ seeds: [], dir: to, flags: GZIP, config: SMALL_FILES })
  expectWhole(copy, web)
  for (const [name, digest] of before) {
    expect(
      createHash('sha256')
        .update(readFileSync(join(dir, name)))
        .digest('hex'),
      name,
    ).toBe(digest)
  }
  expect(checkArchive(dir).problems).toEqual([])
})

test('many in a row: each of them goes on to the truth', async () => {
  const web = await startWeb({ hosts: 30, pages: 40, crossHostShare: 0.3, meanBytes: 2_000 })
  const dir = temporaryDirectory(onTestFinished)
  const config = { ...SMALL_FILES, agent: { tick: '10ms', memory: '400MiB' } }
  const copies: string[] = []
  let last: Promise<unknown> = Promise.resolve()
  const original = await crawl({
    seeds: web.seeds(),
    dir,
    flags: FAST,
    config,
    during: (job) => {
      for (const pages of [50, 200, 500, 900]) {
        whenPages(job, pages, () => {
          const to = `${dir}-${pages}`
          onTestFinished(() => rm(to, { recursive: true, force: true }))
          copies.push(to)
          last = Promise.all([last, job.checkpoint(to)])
          last.catch(() => undefined)
        })
      }
    },
  })
  await last
  expect(copies).toHaveLength(4)
  expectWhole(original, web)
  for (const to of copies) expectWhole(await crawl({ seeds: [], dir: to, flags: FAST, config }), web)
})

async function stoppedCrawl(web: TestWeb, flags = GZIP): Promise<string> {
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir, flags: { ...flags, 'max-pages': '40' }, config: SMALL_FILES })
  return dir
}

test('of a crawl that is stopped; files that nobody changes cost no room', async () => {
  const web = await startWeb({ hosts: 3, pages: 40 })
  const dir = await stoppedCrawl(web)
  const to = `${dir}-copy`
  onTestFinished(() => rm(to, { recursive: true, force: true }))
  const figures = await copyStoppedCrawl(dir, to, clock)
  expect(figures.linkedFiles).toBe(sharedFiles(to).size)
  expect(figures.linkedFiles).toBeGreaterThan(2)
  expect([...sharedFiles(to).keys()].every((name) => /\.(?:warc\.gz|run|ldb)$/.test(name))).toBe(true)
  expect(existsSync(join(to, 'state/lock'))).toBe(false)
  expect(existsSync(join(dir, 'state/lock'))).toBe(false)
  expectWhole(await crawl({ seeds: [], dir: to, flags: GZIP, config: SMALL_FILES }), web)
  expectWhole(await crawl({ seeds: [], dir, flags: GZIP, config: SMALL_FILES }), web)
})

test('to another file system everything is copied, and goes on as well', async () => {
  const web = await startWeb({ hosts: 3, pages: 40 })
  const dir = await stoppedCrawl(web)
  const to = `${dir}-copy`
  onTestFinished(() => rm(to, { recursive: true, force: true }))
  const refuse = async (): Promise<void> => {
    throw Object.assign(new Error('EXDEV: cross-device link not permitted'), { code: 'EXDEV' })
  }
  const figures = await copyStoppedCrawl(dir, to, { ...clock, link: refuse })
  expect(figures.linkedFiles).toBe(0)
  expect(sharedFiles(to).size).toBe(0)
  expectWhole(await crawl({ seeds: [], dir: to, flags: GZIP, config: SMALL_FILES }), web)
})

test('a target that exists is left alone, and so is the crawl', async () => {
  const web = await startWeb({ hosts: 1, pages: 5 })
  const dir = await stoppedCrawl(web)
  const to = join(dir, 'there')
  await mkdir(to)
  await expect(copyStoppedCrawl(dir, to, clock)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  expect(readdirSync(to)).toEqual([])
})

test('whatever fails while copying leaves no half copy', async () => {
  const web = await startWeb({ hosts: 2, pages: 40 })
  const dir = await stoppedCrawl(web)
  const to = `${dir}-copy`
  let links = 0
  const failing = async (from: string, target: string): Promise<void> => {
    if (++links === 3) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    await link(from, target)
  }
  await expect(copyStoppedCrawl(dir, to, { ...clock, link: failing })).rejects.toMatchObject({ code: 'DISK_FULL' })
  expect(existsSync(to)).toBe(false)
  expect(existsSync(`${to}.partial`)).toBe(false)
})

test.each(['CURRENT', 'table'])('a frontier that lacks its %s is not copied as if it were whole', async (what) => {
  const web = await startWeb({ hosts: 3, pages: 40 })
  const dir = await stoppedCrawl(web)
  // Opened once more, so that there are tables.
  await crawl({ seeds: [], dir, flags: { ...GZIP, 'max-pages': '45' }, config: SMALL_FILES })
  const frontier = join(dir, 'state/frontier')
  const lost = what === 'table' ? readdirSync(frontier).find((name) => name.endsWith('.ldb')) : what
  await rm(join(frontier, lost ?? 'none'))
  const to = `${dir}-copy`
  await expect(copyStoppedCrawl(dir, to, clock)).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringMatching(/is missing; see what `portolan repair` can save$/) as string,
  })
  expect(existsSync(to)).toBe(false)
})

test('a WARC that was finished without its last records being committed is not shared: it will be cut', async () => {
  const web = await startWeb({ hosts: 2, pages: 40 })
  const dir = await stoppedCrawl(web)
  const archive = join(dir, 'archive')
  const last =
    readdirSync(archive)
      .filter((name) => name.endsWith('.warc.gz'))
      .toSorted()
      .at(-1) ?? ''
  const length = statSync(join(archive, last)).size
  await writeFile(
    join(archive, last),
    Buffer.concat([readFileSync(join(archive, last)), Buffer.from('never committed')]),
  )
  const to = `${dir}-copy`
  onTestFinished(() => rm(to, { recursive: true, force: true }))
  await copyStoppedCrawl(dir, to, clock)
  expect(statSync(join(to, 'archive', last)).nlink).toBe(1)
  expect(statSync(join(to, 'archive', last)).size).toBe(length)
  expectWhole(await crawl({ seeds: [], dir: to, flags: GZIP, config: SMALL_FILES }), web)
})

describe.skipIf(!canMountSmallDisk())('a disk that is too small (left out where none can be mounted)', () => {
  test.for(['16k', '64k', '128k'])('of %s: said, and nothing is left on it', async (size) => {
    const web = await startWeb({ hosts: 2, pages: 40 })
    const dir = await stoppedCrawl(web)
    const disk = mountSmallDisk(size) ?? ''
    onTestFinished(() => unmount(disk))
    await expect(copyStoppedCrawl(dir, join(disk, 'copy'), clock)).rejects.toMatchObject({ code: 'DISK_FULL' })
    expect(readdirSync(disk)).toEqual([])
    expectWhole(await crawl({ seeds: [], dir, flags: GZIP, config: SMALL_FILES }), web)
  })
})
