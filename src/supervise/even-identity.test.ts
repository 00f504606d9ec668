import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintKeyOf } from '../agent/index.ts'
import { Random } from '../base/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { shareOfSlot } from '../placement/index.ts'
import { canonicalise, type CanonicalUrl, Fingerprinter, slotOf } from '../url/index.ts'
import { evenIdentity } from './even-identity.ts'

function drawer(seed: number): { draw: () => CrawlIdentity; drawn: string[] } {
  const random = new Random(`even ${seed}`)
  const drawn: string[] = []
  const draw = (): CrawlIdentity => {
    const key = Array.from({ length: 16 }, () => random.below(16).toString(16)).join('')
    drawn.push(key)
    return { name: 'even', key, startedAtMs: 1 }
  }
  return { draw, drawn }
}

const seedsOf = (hosts: number): CanonicalUrl[] =>
  Array.from({ length: hosts }, (_, i) => canonicalise(`http://h${i}.example/`) as CanonicalUrl)

function countsOf(identity: CrawlIdentity, seeds: readonly CanonicalUrl[], agents: number): number[] {
  const fingerprinter = new Fingerprinter(fingerprintKeyOf(identity))
  const owners = shareOfSlot(agents)
  const counts = Array.from({ length: agents }, () => 0)
  for (const seed of seeds) {
    fingerprinter.compute(seed)
    counts[owners[slotOf(fingerprinter.high)]!]!++
  }
  return counts
}

test('few hosts are shared among agents as evenly as can be, and nobody is left without one', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 2, max: 4 }), (seed, agents) => {
      for (const hosts of [agents, agents + 1, 2 * agents]) {
        const seeds = seedsOf(hosts)
        const { draw, drawn } = drawer(seed)
        const identity = evenIdentity(draw, seeds, agents)
        const most = Math.max(...countsOf(identity, seeds, agents))
        // As good as the best that was drawn, and it stopped at the first that could not be better.
        const mosts = drawn.map((key) => Math.max(...countsOf({ ...identity, key }, seeds, agents)))
        expect(most).toBe(Math.min(...mosts))
        expect(drawn.length === 64 || mosts.indexOf(Math.ceil(hosts / agents)) === drawn.length - 1).toBe(true)
        if (agents === 2) expect(most).toBe(Math.ceil(hosts / 2))
      }
    }),
    { numRuns: 40 },
  )
})

test('of 64 hosts each of two agents has nearly half', () => {
  for (let seed = 0; seed < 20; seed++) {
    const seeds = seedsOf(64)
    expect(Math.max(...countsOf(evenIdentity(drawer(seed).draw, seeds, 2), seeds, 2))).toBeLessThanOrEqual(33)
  }
})

test('a host counts once, however many of its pages are seeds', () => {
  const pages = Array.from({ length: 50 }, (_, i) => canonicalise(`http://one.example/${i}`) as CanonicalUrl)
  const seeds = [...pages, canonicalise('http://two.example/') as CanonicalUrl]
  const identity = evenIdentity(drawer(1).draw, seeds, 2)
  expect(countsOf(identity, [seeds[0]!, seeds.at(-1)!], 2)).toEqual([1, 1])
})

test.each([
  ['one agent', 10, 1],
  ['one host', 1, 2],
  ['no seeds', 0, 2],
  ['more hosts than matter', 5_000, 2],
])('%s: the first key is as good as any', (_, hosts, agents) => {
  const { draw, drawn } = drawer(7)
  evenIdentity(draw, seedsOf(hosts), agents)
  expect(drawn).toHaveLength(1)
})
