// Two crawls in the shares of one directory are, merged, one crawl: by their journals, through requeues and damage.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, type CrawlResult, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { CrawlView, lookAtCommits } from './crawl-view.ts'
import { writeLayout } from './layout.ts'

const SHARES = ['state/agents/0', 'state/agents/1']

async function startWeb(): Promise<TestWeb> {
  const web = await startTestWeb({ hosts: 2, pages: 25 })
  onTestFinished(() => web.stop())
  return web
}

/** Each host is the seed of an agent of its own, with something that fails. */
async function crawlShares(dir: string, web: TestWeb): Promise<CrawlResult[]> {
  mkdirSync(join(dir, 'state'), { recursive: true })
  await writeLayout(dir, SHARES)
  const results: CrawlResult[] = []
  for (const [i, share] of SHARES.entries()) {
    // First, and to its end: pages may come faster than it is given up.
    const dead = [`http://127.9.9.9:9/${i}`, `http://127.9.9.9:9/more/${i}`]
    await crawl({ seeds: dead, dir: join(dir, share) })
    const seeds = [web.seeds()[i] ?? '']
    results.push(await crawl({ seeds, dir: join(dir, share), flags: { ...FAST, 'max-pages': '10' } }))
  }
  return results
}

async function merge(dir: string): Promise<void> {
  const view = await CrawlView.open(dir)
  await view.advance(await lookAtCommits(dir))
  await view.close()
}

function linesOf(...paths: string[]): string[] {
  return paths
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .filter((line) => line !== '')
    .toSorted()
}

function expectMerged(dir: string): void {
  for (const name of ['pages.jsonl', 'failures.jsonl']) {
    expect(linesOf(join(dir, name))).toEqual(linesOf(...SHARES.map((share) => join(dir, share, name))))
  }
}

test('pages and failures of both, also when they went on, and when verdicts were taken back', async () => {
  const web = await startWeb()
  const dir = temporaryDirectory(onTestFinished)
  const results = await crawlShares(dir, web)
  await merge(dir)
  expectMerged(dir)
  expect(linesOf(join(dir, 'pages.jsonl'))).toHaveLength(20)
  expect(results.flatMap(({ failures }) => failures).length).toBe(4)

  const share = join(dir, SHARES[1] ?? '')
  await crawl({ seeds: [], dir: share, flags: { ...FAST, 'max-pages': '15' } })
  await merge(dir)
  expectMerged(dir)
  expect(linesOf(join(dir, 'pages.jsonl'))).toHaveLength(25)

  // Stopped at once: what was taken back waits again.
  const taken: number[] = []
  await crawl({
    seeds: [],
    dir: share,
    flags: { ...FAST, 'max-pages': '15' },
    during: (job) => job.stop('interrupted'),
    before: async (job) => void taken.push(await job.requeue(({ url }) => url.includes('/more/'))),
  })
  expect(taken).toEqual([1])
  await merge(dir)
  expectMerged(dir)
})

test('while they crawl, what is merged is what they have committed', async () => {
  const web = await startWeb()
  const dir = temporaryDirectory(onTestFinished)
  await crawlShares(dir, web)
  const view = await CrawlView.open(dir)
  const commits = await lookAtCommits(dir)
  const before = new Set(linesOf(...SHARES.map((share) => join(dir, share, 'pages.jsonl'))))
  await crawl({ seeds: [], dir: join(dir, SHARES[0] ?? ''), flags: FAST })
  await view.advance(commits)
  expect(new Set(linesOf(join(dir, 'pages.jsonl')))).toEqual(before)
  await view.advance(await lookAtCommits(dir))
  await view.close()
  expectMerged(dir)
})

test('a share whose agent has not begun has nothing, and a crawl without shares has no view', async () => {
  const web = await startWeb()
  const dir = temporaryDirectory(onTestFinished)
  await crawlShares(dir, web)
  rmSync(join(dir, SHARES[1] ?? ''), { recursive: true })
  await merge(dir)
  expect(linesOf(join(dir, 'pages.jsonl'))).toHaveLength(10)
  rmSync(join(dir, 'state/layout.json'))
  await expect(CrawlView.open(dir)).rejects.toThrow('has no layout')
})
