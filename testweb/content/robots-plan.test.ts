// The predicate that the truth uses says the same as the text that crawlers read: here, and only here,
// the text is read back, by the crawler's own parser.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRobots } from '../../src/robots/index.ts'
import { chooseRobots, planRobots, ROBOTS_KINDS } from './robots-plan.ts'

const anyPath = fc
  .tuple(
    fc.constantFrom('/', '/private/', '/tmp/', '/blog/', '/news/', '/docs/private/'),
    fc.constantFrom('', 'p1.html', 'p2.pdf', 'view?id=7&v=9', '7/', 'caf%C3%A9-3.html'),
  )
  .map(([folder, file]) => folder + file)

describe('the rules', () => {
  test.each(ROBOTS_KINDS)('of kind %s are the same as text and as predicate', (kind) => {
    const plan = planRobots(kind, 3, 'http://127.1.0.1/sitemap.xml')
    if (plan.access !== 'rules') {
      expect(plan.text).toBe('')
      return
    }
    const file = parseRobots(Buffer.from(plan.text))
    fc.assert(
      fc.property(anyPath, fc.constantFrom('portolan', 'otherbot', 'strangebot'), (path, agent) => {
        expect(plan.allows(path, agent), `${path} for ${agent}`).toBe(file.rulesFor(agent).decide(path).allowed)
      }),
    )
    expect(file.rulesFor('portolan').crawlDelayMs).toBe(plan.crawlDelayS === null ? null : plan.crawlDelayS * 1_000)
  })

  test('every kind is chosen by its weight', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 4_000; i++) {
      const kind = chooseRobots({ open: 3, broken: 1 }, Math.imul(i, 0x9e3779b1) >>> 0)
      counts.set(kind, (counts.get(kind) ?? 0) + 1)
    }
    expect([...counts.keys()].sort()).toEqual(['broken', 'open'])
    expect(counts.get('broken')).toBeGreaterThan(850)
    expect(counts.get('broken')).toBeLessThan(1_150)
  })
})
