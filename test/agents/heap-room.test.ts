// V8 is told by a flag of the process that the heap of an agent begins with room. Code is kept for the flags under which it was compiled: when the
// thread runs, they are what they were.

import { cachedDataVersionTag, setFlagsFromString } from 'node:v8'
import { expect, test } from 'vitest'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { crawl, FAST } from '../crawl/run-crawl.ts'

test('what was compiled before agents were started is good when they run, and after', async () => {
  const before = cachedDataVersionTag()
  setFlagsFromString('--initial-old-space-size=64')
  expect(cachedDataVersionTag(), 'the flag would be seen').not.toBe(before)
  const web = await startWeb({ hosts: 4, pages: 10 })
  let meanwhile = 0
  await crawl({
    seeds: web.seeds(),
    dir: directory(),
    agents: 2,
    flags: { ...FAST, memory: '2GiB' },
    duringNode: (node) => {
      const watch = setInterval(() => {
        if (node.figures.pages === 0) return
        clearInterval(watch)
        meanwhile = cachedDataVersionTag()
      }, 1)
    },
  })
  expect(meanwhile === 0 ? before : meanwhile).toBe(before)
  expect(cachedDataVersionTag()).toBe(before)
})
