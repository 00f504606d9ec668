// Limits of a crawl are shared by its agents, and a change reaches all of them, also one that is started again.

import { expect, test } from 'vitest'
import { directory, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, FAST } from '../crawl/run-crawl.ts'

/** Slower than any test may take. */
const HARDLY = { ...FAST, 'max-rate': '0.02', connections: '31' }

test('each agent has its share, and a limit that is lifted is lifted for one that is started again', async () => {
  const web = await startWeb({ seed: 'speed', hosts: 8, pages: 10 })
  let before: unknown = null
  let after: unknown = null
  const result = await crawl({
    seeds: web.seeds(),
    dir: directory(),
    flags: HARDLY,
    agents: 2,
    duringNode: (node) => {
      before = node.paces.map(({ speed }) => speed)
      node.setSpeed({ ratePerSecond: null, connections: 7 })
      // The second alone has a limit of its own, until all have one again.
      node.setSpeed({ ratePerSecond: 0.01 }, 1)
      node.restartAgent(0)
      const watch = setInterval(() => {
        if (node.restarts === 0 || !node.paces.every(({ speed }) => speed.connections < 10)) return
        clearInterval(watch)
        after = node.paces.map(({ speed }) => speed)
        node.setSpeed({ ratePerSecond: null })
      }, 5)
    },
  })
  expectTruth(result, web.truth())
  const speed = { ratePerSecond: 0.01, bytesPerSecond: null }
  expect(before).toEqual([
    { ...speed, connections: 15 },
    { ...speed, connections: 16 },
  ])
  expect(after).toEqual([
    { ratePerSecond: null, bytesPerSecond: null, connections: 3 },
    { ratePerSecond: 0.01, bytesPerSecond: null, connections: 4 },
  ])
})
