// The law for every frontier: sentences first, then random sequences of operations against a model
// that is slow and obvious. Call frontierConformance() with a factory from the implementation's test.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { Errand, Frontier, FrontierEntry, Settlement, Turn } from './frontier.ts'
import { checkAgainstModel, operations } from './frontier-model.conformance.ts'

interface FrontierSettings {
  readonly clock: ManualClock
  readonly delayMs: number
  readonly ipDelayMs: number
  readonly ipConnections: number
  readonly urlsPerTurn: number
  readonly bands: number
}

export type MakeFrontier = (settings: FrontierSettings) => Frontier

const DEFAULTS = { delayMs: 1_000, ipDelayMs: 0, ipConnections: 8, urlsPerTurn: 20, bands: 8 }

function entryOf(host: string, name: string | number, facts: Partial<FrontierEntry> = {}): FrontierEntry {
  return {
    url: `http://${host}/${name}` as CanonicalUrl,
    host: host as HostKey,
    via: null,
    depth: 0,
    hops: 0,
    band: 0,
    isSeed: false,
    tries: 0,
    pauses: 0,
    ...facts,
  }
}

function errandOf(host: string): Errand {
  return { url: `http://${host}/robots.txt` as CanonicalUrl, host: host as HostKey, purpose: host }
}

const key = (host: string): HostKey => host as HostKey

function mustTake(frontier: Frontier): Turn {
  const turn = frontier.take()
  expect(turn).not.toBeNull()
  return turn!
}

/** Takes all that can be taken. */
function taken(frontier: Frontier): string[] {
  const hosts: string[] = []
  for (let turn = frontier.take(); turn !== null; turn = frontier.take()) hosts.push(turn.host)
  return hosts
}

/** Ends a turn: what does not come back has its verdict. */
function finish(frontier: Frontier, turn: Turn, settlement: Settlement): void {
  const back = new Set([...(settlement.unvisited ?? []), ...(settlement.again ?? [])].map((entry) => entry.url))
  const hasEnded = turn.entries.length > 0 && frontier.inspect(turn.host)?.state !== 'out'
  for (const entry of turn.entries) if (!back.has(entry.url) && !hasEnded) frontier.conclude(entry, true)
  frontier.settle(turn, settlement)
}

/** Takes a turn and its address. */
function claimed(frontier: Frontier, address: string): Turn {
  const turn = mustTake(frontier)
  expect(frontier.claimAddress(turn, address)).toBe(0)
  return turn
}

export function frontierConformance(name: string, make: MakeFrontier): void {
  /** A frontier for one sentence; what it promises is checked once more when the sentence is over. */
  const law = (
    sentence: string,
    settings: Partial<FrontierSettings>,
    body: (frontier: Frontier, clock: ManualClock) => void,
  ): void => {
    test(sentence, () => {
      const clock = settings.clock ?? new ManualClock()
      const frontier = make({ ...DEFAULTS, ...settings, clock })
      body(frontier, clock)
      frontier.assertSound()
    })
  }

  describe(`${name}: turns`, () => {
    law('a frontier with nothing in it gives no turn and no time to come back', {}, (frontier) => {
      expect(frontier.take()).toBeNull()
      expect(frontier.nextReadyMs()).toBeNull()
      expect(frontier.figures()).toEqual({ waiting: 0, hosts: 0, ready: 0, resting: 0, parked: 0, out: 0 })
      expect(frontier.inspect(key('a'))).toBeNull()
    })

    law('an entry comes out as it went in', { bands: 8 }, (frontier) => {
      const via = 'http://b/' as CanonicalUrl
      const entry = entryOf('a', 'x', { via, depth: 70_000, hops: 3, band: 7, isSeed: true, tries: 2, pauses: 5 })
      frontier.offer(entry)
      expect(mustTake(frontier)).toEqual({ host: 'a', errand: null, entries: [entry] })
    })

    law('a host that is out gives no second turn', {}, (frontier, clock) => {
      frontier.offer(entryOf('a', 1))
      frontier.offer(entryOf('a', 2))
      mustTake(frontier)
      clock.advance(1e9)
      expect(frontier.take()).toBeNull()
      expect(frontier.nextReadyMs()).toBeNull()
    })

    law('a turn comes back exactly once', {}, (frontier) => {
      frontier.offer(entryOf('a', 1))
      const turn = mustTake(frontier)
      finish(frontier, turn, { restMs: 0 })
      expect(() => finish(frontier, turn, { restMs: 0 })).toThrow(/not out/)
      expect(() => frontier.claimAddress(turn, '10.0.0.1')).toThrow(/not out/)
    })

    law('an entry with a verdict waits no more, though its turn is still out', { delayMs: 0 }, (frontier) => {
      for (let i = 0; i < 3; i++) frontier.offer(entryOf('a', i))
      const turn = mustTake(frontier)
      const [first, second, third] = turn.entries as [FrontierEntry, FrontierEntry, FrontierEntry]
      frontier.conclude(second, true)
      expect(frontier.figures().waiting).toBe(2)
      expect(frontier.inspect(key('a'))?.waiting).toBe(2)
      expect([...frontier.entries()].map((entry) => entry.url)).toEqual([first.url, third.url])
      expect(frontier.pagesOf(key('a'))).toBe(1)
      frontier.conclude({ ...first, tries: 2 }, false)
      expect(frontier.pagesOf(key('a'))).toBe(1)
      expect(() => frontier.conclude(first, true)).toThrow(/concluded before/)
      expect(() => frontier.settle(turn, { restMs: 0 })).toThrow(/of 3 entries 2 have a verdict/)
      frontier.settle(turn, { restMs: 0, unvisited: [third] })
      expect(frontier.figures().waiting).toBe(1)
      expect(() => frontier.conclude(third, true)).toThrow(/not out/)
    })

    law('entries are filed only under their own host and in a band that exists', { bands: 3 }, (frontier) => {
      frontier.offer(entryOf('a', 1))
      const turn = mustTake(frontier)
      expect(() => frontier.offer(entryOf('b', 1, { band: 3 }))).toThrow(/no band 3/)
      expect(() => frontier.settle(turn, { restMs: 0, again: [entryOf('b', 1)] })).toThrow(/filed under a/)
    })

    law('one URL per turn where a rest is due', { delayMs: 1 }, (frontier) => {
      for (let i = 0; i < 5; i++) frontier.offer(entryOf('a', i))
      expect(mustTake(frontier).entries).toHaveLength(1)
    })

    law('up to urlsPerTurn in one turn where no rest is due', { delayMs: 0, urlsPerTurn: 3 }, (frontier) => {
      for (let i = 0; i < 4; i++) frontier.offer(entryOf('a', i))
      expect(mustTake(frontier).entries.map((entry) => entry.url)).toEqual(['http://a/0', 'http://a/1', 'http://a/2'])
    })

    law('a Crawl-delay makes turns of one URL again', { delayMs: 0, urlsPerTurn: 3 }, (frontier) => {
      for (let i = 0; i < 4; i++) frontier.offer(entryOf('a', i))
      frontier.setLeastRest(key('a'), 1)
      expect(mustTake(frontier).entries).toHaveLength(1)
    })

    law(
      'a rest of the address makes turns of one URL too',
      { delayMs: 0, ipDelayMs: 1, urlsPerTurn: 3 },
      (frontier) => {
        for (let i = 0; i < 4; i++) frontier.offer(entryOf('a', i))
        expect(mustTake(frontier).entries).toHaveLength(1)
      },
    )

    law('a turn holds URLs of one band only', { delayMs: 0 }, (frontier) => {
      frontier.offer(entryOf('a', 'late', { band: 2 }))
      frontier.offer(entryOf('a', 'soon', { band: 1 }))
      expect(mustTake(frontier).entries.map((entry) => entry.band)).toEqual([1])
    })

    law('the least rest is the longer of the configured and the Crawl-delay', { delayMs: 500 }, (frontier) => {
      frontier.setLeastRest(key('a'), 100)
      frontier.setLeastRest(key('b'), 900)
      expect([key('a'), key('b'), key('c')].map((host) => frontier.leastRestMs(host))).toEqual([500, 900, 500])
    })
  })

  describe(`${name}: rests`, () => {
    law('a rest starts when the turn is settled, not when it was taken', {}, (frontier, clock) => {
      frontier.offer(entryOf('a', 1))
      frontier.offer(entryOf('a', 2))
      const turn = mustTake(frontier)
      clock.advance(5_000)
      finish(frontier, turn, { restMs: 1_000 })
      expect(frontier.take()).toBeNull()
      expect(frontier.nextReadyMs()).toBe(clock.nowMs() + 1_000)
      clock.advance(999)
      expect(frontier.take()).toBeNull()
      clock.advance(1)
      expect(mustTake(frontier).entries[0]?.url).toBe('http://a/2')
    })

    law('a host that rests with nothing waiting still rests when a URL comes', {}, (frontier, clock) => {
      frontier.offer(entryOf('a', 1))
      finish(frontier, mustTake(frontier), { restMs: 1_000 })
      expect(frontier.nextReadyMs()).toBeNull()
      clock.advance(400)
      frontier.offer(entryOf('a', 2))
      expect(frontier.take()).toBeNull()
      expect(frontier.nextReadyMs()).toBe(clock.nowMs() + 600)
    })

    law('a rest is lengthened from outside, never shortened', {}, (frontier, clock) => {
      frontier.offer(entryOf('a', 1))
      frontier.rest(key('a'), 2_000)
      frontier.rest(key('a'), 1_000)
      expect(frontier.take()).toBeNull()
      expect(frontier.inspect(key('a'))).toMatchObject({ state: 'resting', restUntilMs: clock.nowMs() + 2_000 })
      frontier.rest(key('a'), 3_000)
      clock.advance(2_000)
      expect(frontier.take()).toBeNull()
      clock.advance(1_000)
      mustTake(frontier)
    })

    law('a rest given to a host that is out holds after its turn', {}, (frontier, clock) => {
      frontier.offer(entryOf('a', 1))
      frontier.offer(entryOf('a', 2))
      const turn = mustTake(frontier)
      frontier.rest(key('a'), 5_000)
      finish(frontier, turn, { restMs: 10 })
      clock.advance(4_999)
      expect(frontier.take()).toBeNull()
      clock.advance(1)
      mustTake(frontier)
    })

    law('of many resting hosts the first to be rested is the first to be asked', {}, (frontier, clock) => {
      const rests = [700, 100, 900, 300, 500, 200]
      for (const restMs of rests) {
        frontier.offer(entryOf(`h${restMs}`, 1))
        frontier.rest(key(`h${restMs}`), restMs)
      }
      const order: string[] = []
      for (let at = frontier.nextReadyMs(); at !== null; at = frontier.nextReadyMs()) {
        clock.advance(at - clock.nowMs())
        order.push(...taken(frontier))
      }
      expect(order).toEqual(['h100', 'h200', 'h300', 'h500', 'h700', 'h900'])
    })
  })

  describe(`${name}: order`, () => {
    law(
      'within a host and band the first offered is the first handed out',
      { delayMs: 0, urlsPerTurn: 7 },
      (frontier) => {
        const urls: string[] = []
        for (let i = 0; i < 50; i++) {
          frontier.offer(entryOf('a', i))
          urls.push(`http://a/${i}`)
        }
        const out: string[] = []
        for (let turn = frontier.take(); turn !== null; turn = frontier.take()) {
          out.push(...turn.entries.map((entry) => entry.url))
          finish(frontier, turn, { restMs: 0 })
        }
        expect(out).toEqual(urls)
      },
    )

    law('hosts of the best band go first, and those of a band take turns', {}, (frontier) => {
      for (const [host, band] of [
        ['c', 5],
        ['a', 2],
        ['d', 5],
        ['b', 2],
      ] as const) {
        frontier.offer(entryOf(host, 1, { band }))
        frontier.offer(entryOf(host, 2, { band }))
      }
      expect(taken(frontier)).toEqual(['a', 'b', 'c', 'd'])
    })

    law('a better URL moves a waiting host to the better band', {}, (frontier) => {
      frontier.offer(entryOf('a', 1, { band: 5 }))
      frontier.offer(entryOf('b', 1, { band: 5 }))
      frontier.offer(entryOf('b', 2, { band: 3 }))
      const turn = mustTake(frontier)
      expect([turn.host, turn.entries[0]?.url]).toEqual(['b', 'http://b/2'])
      finish(frontier, turn, { restMs: 0 })
      expect(taken(frontier)).toEqual(['a', 'b'])
    })

    law('a host with thousands of URLs starves nobody', { delayMs: 0, urlsPerTurn: 5 }, (frontier) => {
      for (let i = 0; i < 3_000; i++) frontier.offer(entryOf('giant', i))
      for (let i = 0; i < 20; i++) frontier.offer(entryOf(`small${i}`, 1))
      const first = new Set<string>()
      for (let i = 0; i < 21; i++) {
        const turn = mustTake(frontier)
        first.add(turn.host)
        finish(frontier, turn, { restMs: 0 })
      }
      expect(first.size).toBe(21)
    })

    law(
      'what was not visited goes back to the head, what is asked again to the tail',
      { delayMs: 0, urlsPerTurn: 3 },
      (frontier) => {
        for (let i = 0; i < 5; i++) frontier.offer(entryOf('a', i))
        const turn = mustTake(frontier)
        const [first, second, third] = turn.entries as [FrontierEntry, FrontierEntry, FrontierEntry]
        finish(frontier, turn, { restMs: 0, unvisited: [second, third], again: [{ ...first, tries: 1 }] })
        expect(frontier.figures().waiting).toBe(5)
        const next = mustTake(frontier)
        finish(frontier, next, { restMs: 0 })
        const last = mustTake(frontier)
        expect([...next.entries, ...last.entries].map((entry) => entry.url)).toEqual(
          [1, 2, 3, 4, 0].map((i) => `http://a/${i}`),
        )
        expect(last.entries.at(-1)?.tries).toBe(1)
      },
    )
  })

  describe(`${name}: errands and parking`, () => {
    law('an errand goes before entries, alone in its turn', { delayMs: 0 }, (frontier) => {
      frontier.offer(entryOf('a', 1))
      const errand = errandOf('a')
      frontier.sendErrand(errand)
      expect(mustTake(frontier)).toEqual({ host: 'a', errand, entries: [] })
    })

    law('an errand rests its host like any request', {}, (frontier) => {
      frontier.offer(entryOf('a', 1))
      frontier.sendErrand(errandOf('a'))
      finish(frontier, mustTake(frontier), { restMs: 1_000 })
      expect(frontier.take()).toBeNull()
      expect(frontier.inspect(key('a'))?.state).toBe('resting')
    })

    law('a parked host gives turns for errands only', {}, (frontier) => {
      frontier.offer(entryOf('a', 1))
      frontier.park(key('a'))
      expect(frontier.take()).toBeNull()
      expect(frontier.inspect(key('a'))?.state).toBe('parked')
      expect(frontier.figures()).toMatchObject({ parked: 1, ready: 0, waiting: 1 })
      frontier.sendErrand(errandOf('a'))
      expect(frontier.figures()).toMatchObject({ parked: 0, ready: 1 })
      const turn = mustTake(frontier)
      expect(turn.errand).not.toBeNull()
      finish(frontier, turn, { restMs: 0 })
      expect(frontier.take()).toBeNull()
      frontier.unpark(key('a'))
      expect(mustTake(frontier).entries).toHaveLength(1)
    })

    law('a host parked while out gives its entries back and keeps them', {}, (frontier) => {
      frontier.offer(entryOf('a', 1))
      const turn = mustTake(frontier)
      frontier.park(key('a'))
      finish(frontier, turn, { restMs: 0, unvisited: turn.entries })
      expect(frontier.take()).toBeNull()
      frontier.unpark(key('a'))
      expect(mustTake(frontier).entries).toEqual(turn.entries)
    })

    law('an errand may go to a host that was never offered', {}, (frontier) => {
      frontier.sendErrand(errandOf('elsewhere'))
      expect(mustTake(frontier).host).toBe('elsewhere')
      expect(frontier.figures()).toMatchObject({ hosts: 0, waiting: 0, out: 1 })
    })

    law('an errand goes before pages of worse bands elsewhere', {}, (frontier) => {
      frontier.offer(entryOf('a', 1, { band: 4 }))
      frontier.offer(entryOf('b', 1, { band: 4 }))
      frontier.sendErrand(errandOf('b'))
      expect(taken(frontier)).toEqual(['b', 'a'])
    })
  })

  describe(`${name}: addresses`, () => {
    law('no more than ipConnections hosts of one address are out', { ipConnections: 2 }, (frontier) => {
      for (const host of ['a', 'b', 'c', 'd']) for (let i = 0; i < 2; i++) frontier.offer(entryOf(host, i))
      const first = claimed(frontier, '10.0.0.1')
      const second = claimed(frontier, '10.0.0.1')
      const refused = mustTake(frontier)
      expect(frontier.claimAddress(refused, '10.0.0.1')).toBeGreaterThan(0)
      finish(frontier, refused, { restMs: 0, unvisited: refused.entries })
      claimed(frontier, '10.0.0.2')
      // Its address is known now: it is not even handed out.
      expect(frontier.take()).toBeNull()
      expect(frontier.nextReadyMs()).toBeNull()
      finish(frontier, first, { restMs: 60_000 })
      expect(mustTake(frontier).host).toBe('c')
      expect(frontier.take()).toBeNull()
      finish(frontier, second, { restMs: 0 })
      expect(mustTake(frontier).host).toBe('b')
    })

    law(
      'an address rests from the start of a request and from its end',
      { ipDelayMs: 100, delayMs: 0 },
      (frontier, clock) => {
        for (const host of ['a', 'b', 'c']) frontier.offer(entryOf(host, 1))
        const first = claimed(frontier, '10.0.0.1')
        for (const _ of ['b', 'c']) {
          const turn = mustTake(frontier)
          const atMs = frontier.claimAddress(turn, '10.0.0.1')
          expect(atMs).toBe(clock.nowMs() + 100)
          finish(frontier, turn, { restMs: atMs - clock.nowMs(), unvisited: turn.entries })
        }
        clock.advance(99)
        expect(frontier.take()).toBeNull()
        finish(frontier, first, { restMs: 0 })
        clock.advance(1)
        expect(frontier.take()).toBeNull()
        expect(frontier.nextReadyMs()).toBe(clock.nowMs() + 99)
        clock.advance(99)
        expect(mustTake(frontier).host).toBe('b')
        clock.advance(100)
        expect(mustTake(frontier).host).toBe('c')
      },
    )

    law('claiming the same address again in a turn is claiming it once', { ipConnections: 1 }, (frontier) => {
      frontier.offer(entryOf('a', 1))
      frontier.offer(entryOf('a', 2))
      const turn = claimed(frontier, '10.0.0.1')
      expect(frontier.claimAddress(turn, '10.0.0.1')).toBe(0)
      finish(frontier, turn, { restMs: 0 })
      expect(mustTake(frontier).host).toBe('a')
    })

    law('a host that has moved gives back its old address', { ipConnections: 1 }, (frontier) => {
      for (const host of ['a', 'b']) for (let i = 0; i < 3; i++) frontier.offer(entryOf(host, i))
      finish(frontier, claimed(frontier, '10.0.0.1'), { restMs: 0 })
      finish(frontier, claimed(frontier, '10.0.0.1'), { restMs: 0 })
      const turn = mustTake(frontier)
      expect(turn.host).toBe('a')
      expect(frontier.take()).toBeNull()
      expect(frontier.claimAddress(turn, '10.0.0.2')).toBe(0)
      expect(frontier.inspect(key('a'))?.address).toBe('10.0.0.2')
      expect(mustTake(frontier).host).toBe('b')
    })

    law('addresses of one IPv6 /48 share their politeness', { ipConnections: 1 }, (frontier) => {
      frontier.offer(entryOf('a', 1))
      frontier.offer(entryOf('b', 1))
      frontier.offer(entryOf('c', 1))
      claimed(frontier, '2001:db8:1::1')
      const turn = mustTake(frontier)
      expect(frontier.claimAddress(turn, '2001:db8:1:ffff::2')).toBeGreaterThan(0)
      expect(frontier.claimAddress(turn, '2001:db8:2::2')).toBe(0)
    })

    law('who waits for an address is not overtaken by who is new to it', { ipConnections: 1 }, (frontier) => {
      for (const host of ['a', 'b']) for (let i = 0; i < 2; i++) frontier.offer(entryOf(host, i))
      finish(frontier, claimed(frontier, '10.0.0.1'), { restMs: 0 })
      finish(frontier, claimed(frontier, '10.0.0.1'), { restMs: 0 })
      const turn = mustTake(frontier)
      expect(frontier.take()).toBeNull()
      frontier.offer(entryOf('new', 1))
      const newcomer = mustTake(frontier)
      finish(frontier, turn, { restMs: 0 })
      expect(frontier.claimAddress(newcomer, '10.0.0.1')).toBeGreaterThan(0)
      finish(frontier, newcomer, { restMs: 0, unvisited: newcomer.entries })
      expect(mustTake(frontier).host).toBe('b')
    })

    law(
      'a host whose call came to nothing keeps its place in line',
      { ipDelayMs: 100, delayMs: 0 },
      (frontier, clock) => {
        const all = ['a', 'x', 'b', 'c']
        for (const host of all) frontier.offer(entryOf(host, 1, { band: 1 }))
        for (let i = 0; i < all.length; i++) {
          finish(frontier, claimed(frontier, '10.0.0.1'), { restMs: 0 })
          clock.advance(100)
        }
        for (const host of ['a', 'b', 'c']) frontier.offer(entryOf(host, 2, { band: 1 }))
        const turn = mustTake(frontier)
        expect(frontier.take()).toBeNull()
        // The address rests from now on; 'b' is called by the release and 'x' of a better band is refused.
        finish(frontier, turn, { restMs: 0 })
        frontier.offer(entryOf('x', 2, { band: 0 }))
        expect(frontier.take()).toBeNull()
        const order: string[] = []
        for (let i = 0; i < 3; i++) {
          clock.advance(100)
          order.push(...taken(frontier))
        }
        expect(order).toEqual(['x', 'b', 'c'])
      },
    )
  })

  describe(`${name}: looking at it`, () => {
    law(
      'a checkpoint sees every entry once, those that are out included',
      { delayMs: 0, urlsPerTurn: 2 },
      (frontier) => {
        const urls: string[] = []
        for (const host of ['a', 'b']) {
          for (let i = 0; i < 3; i++) {
            frontier.offer(entryOf(host, i, { band: i % 2 }))
            urls.push(`http://${host}/${i}`)
          }
        }
        mustTake(frontier)
        expect([...frontier.entries()].map((entry) => entry.url).sort()).toEqual(urls.sort())
      },
    )

    law('a checkpoint sees the state of every host', {}, (frontier, clock) => {
      for (const host of ['out', 'resting', 'ready', 'parked']) frontier.offer(entryOf(host, 1))
      const turn = mustTake(frontier)
      frontier.claimAddress(turn, '10.0.0.1')
      frontier.rest(key('resting'), 100)
      frontier.park(key('parked'))
      frontier.setLeastRest(key('idle'), 9_000)
      const states = new Map([...frontier.hostStates()].map((state) => [state.host as string, state]))
      expect([...states.keys()].sort()).toEqual(['idle', 'out', 'parked', 'ready', 'resting'])
      for (const [host, state] of states) expect(state.state).toBe(host)
      expect(states.get('out')).toMatchObject({ address: '10.0.0.1', waiting: 1 })
      expect(states.get('resting')?.restUntilMs).toBe(clock.nowMs() + 100)
      expect(states.get('idle')).toMatchObject({ leastRestMs: 9_000, waiting: 0 })
      expect(frontier.figures()).toEqual({ waiting: 4, hosts: 4, ready: 1, resting: 1, parked: 1, out: 1 })
    })
  })

  describe(`${name}: against the model`, () => {
    const crowd = fc.record({
      delayMs: fc.constant(0),
      ipDelayMs: fc.constantFrom(0, 50),
      ipConnections: fc.integer({ min: 1, max: 2 }),
      urlsPerTurn: fc.constant(1),
      bands: fc.constant(3),
    })
    const settings = fc.record({
      delayMs: fc.constantFrom(0, 0, 1_000),
      ipDelayMs: fc.constantFrom(0, 0, 50),
      ipConnections: fc.integer({ min: 1, max: 3 }),
      urlsPerTurn: fc.integer({ min: 1, max: 4 }),
      bands: fc.constantFrom(1, 4),
    })

    test('after any sequence of operations it has kept every law', () => {
      fc.assert(
        fc.property(settings, fc.array(operations, { maxLength: 150, size: 'max' }), (chosen, sequence) => {
          const clock = new ManualClock()
          checkAgainstModel(make({ ...chosen, clock }), { ...chosen, clock }, sequence)
        }),
        { numRuns: 250 },
      )
    })

    test('with all hosts on one crowded address it has kept every law', () => {
      fc.assert(
        fc.property(crowd, fc.array(operations, { minLength: 60, maxLength: 200, size: 'max' }), (chosen, sequence) => {
          const clock = new ManualClock()
          const oneAddress = sequence.map((operation) =>
            operation.kind === 'claim' ? { ...operation, address: 0 } : operation,
          )
          checkAgainstModel(make({ ...chosen, clock }), { ...chosen, clock }, oneAddress)
        }),
        { numRuns: 150 },
      )
    })
  })
}
