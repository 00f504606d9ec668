// `npm run giant` does more of it.

import { expect, test } from 'vitest'
import { crawlGiant } from './lent-turns.ts'

test(
  'a giant host is asked by several nodes, and by one at a time, also where one of them freezes with a turn and wakes late',
  { timeout: 240_000 },
  async () => {
    const { problems, requests, brought, lost, story } = await crawlGiant(100, ['freeze'])
    expect(problems, story).toEqual([])
    // Both asked: the owner what came before there was a giant, at least. The turn that froze did not come back.
    expect(brought, story).toBeGreaterThan(requests / 10)
    expect(requests - brought, story).toBeGreaterThan(5)
    expect(lost, story).toBeGreaterThan(0)
  },
)
