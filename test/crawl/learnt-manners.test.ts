// Manners that go beyond one delay for all, proved by the servers' own logs: domains that rest as one, rules for hosts one knows,
// hours in which a host is left alone, and a pace that a server teaches with 429.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MannersNote } from '../../src/agent/index.ts'
import { type Clock, systemClock } from '../../src/base/index.ts'
import { readJsonLines } from '../../src/store/index.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { crawl, dnsFlags, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb({ latencyMs: 2, naming: 'names', hosts: 12, hostsPerDomain: 4, pages: 4, ...options })
  onTestFinished(() => web.stop())
  return web
}

const HOUR_MS = 3_600_000

/** `15:00-16:00`: an hour of UTC that begins so long after a moment. */
function hoursAfter(wallMs: number, afterMs: number): string {
  const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16)
  return `${clock(wallMs + afterMs)}-${clock(wallMs + afterMs + HOUR_MS)}`
}

describe.each([0, 2])('with %i agents in threads', (agents) => {
  test('hosts of one domain are asked one at a time, and the domain rests between them', async () => {
    const web = await startWeb({})
    const result = await crawl({
      seeds: web.seeds(),
      dir: temporaryDirectory(onTestFinished),
      flags: { ...FAST, ...dnsFlags(web), 'domain-delay': '12ms' },
      agents,
    })
    expect(result.pages).toHaveLength(web.truth().pages.size)
    expect(web.politeness({ delayMs: 0, domainDelayMs: 12 })).toEqual([])
    // Without the rule they are not: the judge would notice.
    expect(web.politeness({ delayMs: 0, domainDelayMs: 200 })).not.toEqual([])
  })

  test('each host has the first rule that speaks of it: a delay, or hours outside of which nothing is asked, robots.txt included', async () => {
    const web = await startWeb({})
    const rules = [
      { hosts: 'h0.site0.test', delay: '30ms' },
      { hosts: '*.site0.test', delay: '15ms' },
      { hosts: '*.site1.test', hours: hoursAfter(systemClock.wallMs(), 5 * HOUR_MS) },
    ]
    const delayMs = (host: string): number => (host === 'h0.site0.test' ? 30 : host.endsWith('.site0.test') ? 15 : 0)
    const isOpen = (host: string): boolean => !host.endsWith('.site1.test')
    const result = await crawl({
      seeds: web.seeds(),
      dir: temporaryDirectory(onTestFinished),
      flags: { ...FAST, ...dnsFlags(web) },
      config: { ...QUICK_BACKOFF, frontier: { ...QUICK_BACKOFF.frontier, rules } },
      agents,
    })
    expect(result.pages.length).toBeGreaterThan(20)
    expect(web.politeness({ delayMs, isOpen })).toEqual([])
    // What is left waits for the hours, and when they begin is known.
    expect(result.reason).toBe('only-resting')
    expect(result.snapshot.frontier.waiting).toBeGreaterThan(0)
    const waitMs = result.snapshot.waitMs ?? 0
    expect(waitMs).toBeGreaterThan(4.9 * HOUR_MS)
    expect(waitMs).toBeLessThanOrEqual(5 * HOUR_MS)
  })
})

test('a crawl that goes on later asks as soon as the hours begin, and not before', async () => {
  const web = await startWeb({ hosts: 2, hostsPerDomain: 1 })
  const dir = temporaryDirectory(onTestFinished)
  const opensMs = Date.parse('2026-11-16T22:00:00Z')
  const config = {
    ...QUICK_BACKOFF,
    frontier: {
      ...QUICK_BACKOFF.frontier,
      rules: [{ hosts: '*.site1.test', hours: '23:00-06:00', zone: 'Europe/Berlin' }],
    },
  }
  const flags = { ...FAST, ...dnsFlags(web) }
  const beganMs = systemClock.nowMs()
  /** A clock on which the window opens so long after this test began. */
  const clockBefore = (ms: number): Clock => ({
    ...systemClock,
    nowMs: () => systemClock.nowMs(),
    callAt: (atMs, callback) => systemClock.callAt(atMs, callback),
    wallMs: () => opensMs - ms + (systemClock.nowMs() - beganMs),
  })
  const early = await crawl({ seeds: web.seeds(), dir, flags, config, clock: clockBefore(5 * HOUR_MS) })
  expect(early.reason).toBe('only-resting')
  // Five hours later by the wall: what is left of the rest is not five hours again, but what the clock says.
  const openAfterMs = systemClock.nowMs() - beganMs + 400
  const late = await crawl({ seeds: web.seeds(), dir, flags, config, clock: clockBefore(openAfterMs) })
  expect(late.reason).toBe('finished')
  expect(late.pages).toHaveLength(web.truth().pages.size)
  const isOpen = (host: string, startMs: number): boolean =>
    !host.endsWith('.site1.test') || startMs >= beganMs + openAfterMs
  expect(web.politeness({ delayMs: 0, isOpen })).toEqual([])
})

describe('a server that bears so much and no more', () => {
  /** Refuses whoever comes sooner than this after its last answer. */
  async function patientServer(leastGapMs: number): Promise<{ url: string; refused: number }> {
    let answeredMs = -Infinity
    const counts = { url: '', refused: 0 }
    const links = Array.from({ length: 44 }, (_, i) => `<a href="/p${i}">p</a>`).join('')
    const server = createServer((request, response) => {
      const isEarly = performance.now() - answeredMs < leastGapMs
      response.on('finish', () => {
        answeredMs = performance.now()
      })
      if (request.url === '/robots.txt') return void response.writeHead(404).end()
      if (isEarly) {
        counts.refused++
        return void response.writeHead(429).end('too many')
      }
      response.writeHead(200, { 'content-type': 'text/html' }).end(request.url === '/' ? links : request.url)
    })
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    onTestFinished(() => server.closeAllConnections())
    counts.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    return counts
  }

  const notesIn = (dir: string): Promise<MannersNote[]> =>
    Array.fromAsync(readJsonLines<MannersNote>(join(dir, 'state/manners.jsonl')))

  test('teaches its pace, which is noted, and known to the next run', async () => {
    const server = await patientServer(60)
    const dir = temporaryDirectory(onTestFinished)
    const flags = { ...FAST, delay: '20ms' }
    const config = { frontier: { backoff: '30ms', backoffMax: '1s', latencyFactor: 0 }, agent: { pauses: 50 } }
    await crawl({ seeds: [server.url], dir, flags: { ...flags, 'max-pages': '12' }, config })
    const taught = (await notesIn(dir)).findLast(({ learnt }) => learnt !== null)?.learnt
    expect(taught?.restMs).toBeGreaterThan(20)
    const refusedBefore = server.refused
    expect(refusedBefore).toBeGreaterThan(0)
    const result = await crawl({ seeds: [server.url], dir, flags, config })
    expect(result.pages).toHaveLength(45)
    expect(result.pages.every(({ status }) => status === 200)).toBe(true)
    // It goes on with the pace it was taught: the next one, found by fading slowly, is refused at most once or twice.
    expect(server.refused - refusedBefore).toBeLessThanOrEqual(4)
    expect((await notesIn(dir)).at(-1)?.learnt?.refusals ?? 0).toBeGreaterThanOrEqual(taught?.refusals ?? 0)
  })

  test('teaches nothing where the user asked for no rests, and its pauses are kept', async () => {
    const server = await patientServer(10)
    const dir = temporaryDirectory(onTestFinished)
    const result = await crawl({ seeds: [server.url], dir, config: { ...QUICK_BACKOFF, agent: { pauses: 50 } } })
    expect(result.pages).toHaveLength(45)
    const notes = await notesIn(dir)
    expect(notes).toHaveLength(server.refused)
    expect(notes.every(({ learnt, untilWallMs }) => learnt === null && untilWallMs > 0)).toBe(true)
  })
})
