// A crawl of every nasty host at once, over and over: each ends as it should, nothing of ours breaks, and
// when it is over as much is open as before. A longer one: node bench/nasty-rounds.ts

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { BEHAVIOURS, type NastyFace } from '../../testweb/index.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF } from '../crawl/run-crawl.ts'
import { openDescriptors } from '../open-descriptors.ts'
import { EXPECTED } from './expected.ts'
import type { Expected, ExpectedPage } from './expected-outcome.ts'
import { nastyLimits, nastyPatience } from './nasty-options.ts'

const ROUNDS = 2
/** A hundred and fifty hosts, some of which are waited for, on a machine that may be busy. */
const TEST_MS_MAX = 180_000
/** What a round may leave in memory: caches that fill, code that was compiled. */
const HEAP_GROWTH_BYTES_MAX = 8 * 1024 * 1024

/** It is about a limit of 64 KiB, which is larger here. */
const OTHERWISE: Readonly<Record<string, Expected>> = { 'gzip-trunc-limit': { page: {} } }

/** Those that end by a deadline. All others have all the time they want: how fast this machine is decides nothing. */
function isSilent(name: string): boolean {
  return /"time"|_TIMEOUT/.test(JSON.stringify(EXPECTED[name]))
}

interface Nasty {
  readonly face: NastyFace
  /** All hosts that talk, and then all that are silent. */
  readonly round: (agents: number) => Promise<{ readonly talking: CrawlResult; readonly silent: CrawlResult }>
}

async function startNasty(): Promise<Nasty> {
  const web = await startWeb({ hosts: 1, pages: 3, nasty: true })
  const { nasty: face } = web
  if (face === null) throw new Error('no nasty face')
  const caFile = join(directory(), 'ca.pem')
  writeFileSync(caFile, web.authority ?? '')
  const [silentNames = [], talkingNames = []] = [true, false].map((is) =>
    face.names.filter((name) => isSilent(name) === is),
  )
  const run = (names: string[], agents: number, flags: object, fetch: object): Promise<CrawlResult> =>
    crawl({
      seeds: [...web.seeds(), ...names.map((name) => face.url(name))],
      dir: directory(),
      flags: { ...FAST, retries: '0', ...flags },
      config: { ...QUICK_BACKOFF, fetch: { caFile, ...nastyLimits, ...fetch } },
      agents,
    })
  return {
    face,
    async round(agents) {
      const talking = await run(talkingNames, agents, {}, {})
      // A robots.txt that comes late is another matter.
      const silent = await run(silentNames, agents, { robots: 'ignore' }, nastyPatience)
      return { talking, silent }
    },
  }
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

function expectEnds({ talking, silent }: Awaited<ReturnType<Nasty['round']>>, face: NastyFace): void {
  for (const name of face.names) {
    if (isSilent(name)) expect(ended(silent, face.url(name)), name).toMatch(/^200 time as it says$|_TIMEOUT$/)
    else expect(mayEnd(name), name).toContain(ended(talking, face.url(name)))
  }
  expectBooks(talking)
  expectBooks(silent)
}

/** Everything that was met is counted under a name, and nothing of ours broke. */
function expectBooks(result: CrawlResult): void {
  expect(result.reason).toBe('finished')
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

test(
  'round after round they end the same, and nothing stays open',
  async () => {
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
  },
  TEST_MS_MAX,
)

test(
  'with two agents as well',
  async () => {
    const { face, round } = await startNasty()
    const before = openDescriptors()
    expectEnds(await round(2), face)
    await expectOpen(before)
    expect(face.openConnections).toBe(0)
  },
  TEST_MS_MAX,
)
