// --max-rate, --max-bandwidth and --connections hold for whole crawls, can be changed while one runs, and never keep it from
// ending.

import { expect, test } from 'vitest'
import { RawServer } from '../raw-server.ts'
import { directory, expectTruth, startWeb } from './expect-truth.ts'
import { crawl, FAST } from './run-crawl.ts'

/** Slower than any test may take. */
const HARDLY = { ...FAST, 'max-rate': '0.01' }

test('a rate holds for requests of every kind', async () => {
  const web = await startWeb({ hosts: 3, pages: 12, faults: 'mild' })
  const result = await crawl({ seeds: web.seeds(), dir: directory(), flags: { ...FAST, 'max-rate': '100' } })
  expectTruth(result, web.truth())
  const requests = web.log.length
  expect(requests).toBeGreaterThan(40)
  expect(result.snapshot.runMs).toBeGreaterThanOrEqual(((requests - 1) / 100 - 0.1) * 1_000)
})

test('a bandwidth holds for what comes over the wire', async () => {
  const web = await startWeb({ hosts: 3, pages: 12 })
  const flags = { ...FAST, 'max-bandwidth': '100kB', connections: '1' }
  const result = await crawl({ seeds: web.seeds(), dir: directory(), flags })
  expectTruth(result, web.truth())
  // All but the last was there when the last was asked for.
  const sizes = result.pages.map(({ wireBytes }) => wireBytes)
  const bytes = sizes.reduce((sum, size) => sum + size, 0) - Math.max(...sizes)
  expect(bytes).toBeGreaterThan(50_000)
  expect(result.snapshot.runMs).toBeGreaterThanOrEqual((bytes / 100_000 - 0.1) * 1_000)
})

test('a limit that is lifted while the crawl waits for it lets it go on', async () => {
  const web = await startWeb({ hosts: 4, pages: 20, faults: 'mild' })
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    flags: HARDLY,
    during: (job) => {
      const watch = setInterval(() => {
        if (job.pace.waiting === 0) return
        clearInterval(watch)
        job.setSpeed({ ratePerSecond: null })
      }, 5)
    },
  })
  expectTruth(result, web.truth())
})

test.for([
  ['waiting for the limit', 4],
  ['asking nobody', 1],
] as const)('a crawl stops at once while it is %s', async ([what, hosts]) => {
  const web = await startWeb({ hosts, pages: 20 })
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    flags: HARDLY,
    during: (job) => {
      // A limit that comes while hosts have their turns finds them in line; one host alone gets no turn before its time.
      if (what === 'waiting for the limit') job.setSpeed({ ratePerSecond: null })
      const watch = setInterval(() => {
        if (what === 'waiting for the limit') {
          if (job.figures.pages > 0) job.setSpeed({ ratePerSecond: 0.01 })
          if (job.pace.waiting === 0) return
        } else if (web.log.length === 0 || job.snapshot().active > 0) return
        clearInterval(watch)
        job.stop('interrupted')
      }, 1)
    },
  })
  expect(result.reason).toBe('interrupted')
  expect(result.snapshot.active).toBe(0)
  // What was not asked waits on.
  const { figures } = result.snapshot
  expect(figures.waiting).toBe(result.snapshot.frontier.waiting)
  expect(figures.waiting).toBeGreaterThan(0)
})

test('a limit that leaves nothing to ask for is no reason to wait for it', async () => {
  const server = await RawServer.open((socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  const seeds = [`http://127.0.0.1:${server.port}/`]
  const result = await crawl({ seeds, dir: directory(), flags: { ...HARDLY, robots: 'ignore' } })
  await server.close()
  expect(result.reason).toBe('finished')
  expect(result.pages).toHaveLength(1)
})

test('connections are a number that can be lowered before it runs and raised while it does', async () => {
  const web = await startWeb({ hosts: 8, pages: 20 })
  let most = 0
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    during: (job) => {
      job.setSpeed({ connections: 1 })
      const watch = setInterval(() => {
        most = Math.max(most, job.snapshot().active)
        if (job.figures.pages < 60) return
        clearInterval(watch)
        job.setSpeed({ connections: 8 })
        expect(job.pace.speed.connections).toBe(8)
      }, 1)
    },
  })
  expectTruth(result, web.truth())
  expect(most).toBe(1)
})
