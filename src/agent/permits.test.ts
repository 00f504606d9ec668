// --max-pages is exact: pages and permits under way together never exceed the limit.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Permits } from './permits.ts'

test('however requests end, there are never more pages than the limit, and all of them can be had', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.array(fc.constantFrom('take', 'page', 'nothing')), (limit, events) => {
      const permits = new Permits(limit)
      let out = 0
      let pages = 0
      for (const event of events) {
        if (event === 'take' && permits.take()) out++
        else if (event === 'page' && out > 0) {
          permits.use()
          out--
          pages++
        } else if (event === 'nothing' && out > 0) {
          permits.giveBack()
          out--
        }
        expect(pages + out).toBeLessThanOrEqual(limit)
        expect(permits.mayTake()).toBe(pages + out < limit)
        expect(permits.isSpent).toBe(pages === limit)
      }
    }),
  )
})
