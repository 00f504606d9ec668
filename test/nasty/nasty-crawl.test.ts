// A crawl of every nasty host at once, over and over: each ends as it should, nothing of ours breaks, and
// when it is over as much is open as before. A longer one: node bench/nasty-rounds.ts

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { BEHAVIOURS, type NastyFace, type TestWeb } from '../../testweb/index.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF } from '../crawl/run-crawl.ts'
import { openDescriptors } from '../open-descriptors.ts'
import { EXPECTED, type Expected, type ExpectedPage } from './expected.ts'
import { nastyFetchOptions } from './nasty-options.ts'

const ROUNDS = 2
/** What a round may leave in memory: caches that fill, code that was compiled. */
const HEAP_GROWTH_BYTES_MAX = 8 * 1024 * 1024

/** It is about a limit of 64 KiB, which is larger here. */
const OTHERWISE: Readonly<Record<string, Expected>> = { 'gzip-trunc-limit': { page: {} } }

async function startNasty(): Promise<{
  web: TestWeb
  face: NastyFace
  round: (agents: number) => Promise<CrawlResult>
}> {
  const web = await startWeb({ hosts: 1, pages: 3, nasty: true })
  const { nasty: face } = web
  if (face === null) throw new Error('no nasty face')
  const caFile = join(directory(), 'ca.pem')
  writeFileSync(caFile, web.authority ?? '')
  const config = { ...QUICK_BACKOFF, fetch: { caFile, ...nastyFetchOptions } }
  const round = (agents: number): Promise<CrawlResult> =>
    crawl({
      seeds: [...web.seeds(), ...face.urls()],
      dir: directory(),
      flags: { ...FAST, retries: '0' },
      config,
      agents,
    })
  return { web, face, round }
}

/** What became of a URL, in one line. */
function ended({ pages, failures }: CrawlResult, url: string): string {
  const page = pages.find((one) => one.url === url)
  if (page !== undefined) return `${page.status} ${page.truncated ?? 'whole'} ${page.decoding ?? 'as it says'}`
  return failures.find((one) => one.url === url)?.reason ?? 'nothing'
}

/** The same, as it must be. */
function mayEnd(name: string): string[] {
  const expected = name in OTHERWISE ? OTHERWISE[name] : EXPECTED[name]
  if (expected === undefined) return []
  const asPage = ({ status = 200, truncated, decoding }: ExpectedPage): string => {
    const isMarked = decoding === 'broken' || decoding === 'unknown'
    return `${status} ${truncated ?? 'whole'} ${isMarked ? decoding : 'as it says'}`
  }
  if ('page' in expected) return [asPage(expected.page)]
  if ('skipped' in expected) return [expected.skipped]
  if (expected.atLast !== undefined) return [asPage(expected.atLast)]
  // Who breaks off before a request is read cannot be asked for robots.txt either.
  const isMute = BEHAVIOURS.get(name)?.atConnect !== undefined
  return [...[expected.failed].flat(), ...(isMute ? ['robots-unavailable'] : [])]
}

function expectEnds(result: CrawlResult, face: NastyFace): void {
  expect(result.reason).toBe('finished')
  for (const name of face.names) expect(mayEnd(name), name).toContain(ended(result, face.url(name)))
  expect(result.failures.filter((one) => one.reason === 'VISIT_BROKEN')).toEqual([])
  const { figures, frontier } = result.snapshot
  expect(frontier.waiting).toBe(0)
  expect(figures.settled).toBe(figures.admitted)
  expect(result.pages.length + result.failures.length).toBe(figures.settled)
  // Out of the web, or into private networks, no redirect has led.
  const elsewhere = [...result.pages, ...result.failures].filter(({ url }) => !/^https?:\/\/127\.(126|1)\./.test(url))
  expect(elsewhere).toEqual([])
}

/** Sockets close a few turns of the event loop after they are destroyed. */
async function expectOpen(count: number): Promise<void> {
  for (let turn = 0; turn < 2_000 && openDescriptors() > count; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(openDescriptors()).toBe(count)
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('round after round they end the same, and nothing stays open', async () => {
  const { face, round } = await startNasty()
  const before = openDescriptors()
  const heaps: number[] = []
  for (let i = 0; i < ROUNDS; i++) {
    expectEnds(await round(0), face)
    await expectOpen(before)
    expect(face.openConnections).toBe(0)
    heaps.push(heapBytes())
  }
  expect((heaps.at(-1) ?? 0) - (heaps[0] ?? 0)).toBeLessThan(HEAP_GROWTH_BYTES_MAX)
})

test('with two agents as well', async () => {
  const { face, round } = await startNasty()
  const before = openDescriptors()
  expectEnds(await round(2), face)
  await expectOpen(before)
  expect(face.openConnections).toBe(0)
})
