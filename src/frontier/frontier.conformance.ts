// The law for every frontier: sentences first, then random sequences of operations against a model
// that is slow and obvious. Call frontierConformance() with a factory from the implementation's test.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { Errand, FrontierEntry, Settlement, Turn } from './frontier.ts'
import { type IpGate, MemoryIpGate } from './ip-gate.ts'
import { checkAgainstModel, operations } from './frontier-model.conformance.ts'
import { steady, type SteadyFrontier, type Subject } from './steady-frontier.conformance.ts'
import { entryOf } from '../../test/frontier-entry.ts'

export interface FrontierSettings {
  readonly clock: ManualClock
  readonly delayMs: number
  readonly ipDelayMs: number
  readonly ipConnections: number
  readonly urlsPerTurn: number
  readonly bands: number
  readonly domainDelayMs?: number
  readonly domainGate?: IpGate
}

export type MakeFrontier = (settings: FrontierSettings) => Promise<Subject>

const DEFAULTS = { delayMs: 1_000, ipDelayMs: 0, ipConnections: 8, urlsPerTurn: 20, bands: 8 }

function errandOf(host: string): Errand {
  return { url: `http://${host}/robots.txt` as CanonicalUrl, host: host as HostKey, purpose: host }
}

const key = (host: string): HostKey => host as HostKey

async function mustTake(frontier: SteadyFrontier): Promise<Turn> {
  const turn = await frontier.take()
  expect(turn).not.toBeNull()
  return turn!
}

/** Takes all that can be taken. */
async function taken(frontier: SteadyFrontier): Promise<string[]> {
  const hosts: string[] = []
  for (let turn = await frontier.take(); turn !== null; turn = await frontier.take()) hosts.push(turn.host)
  return hosts
}

/** Ends a turn: what does not come back has its verdict. */
async function finish(frontier: SteadyFrontier, turn: Turn, settlement: Settlement): Promise<void> {
  const back = new Set([...(settlement.unvisited ?? []), ...(settlement.again ?? [])].map((entry) => entry.url))
  const hasEnded = turn.entries.length > 0 && (await frontier.inspect(turn.host))?.state !== 'out'
  for (const entry of turn.entries) if (!back.has(entry.url) && !hasEnded) await frontier.conclude(entry, true)
  await frontier.settle(turn, settlement)
}

/** Takes a turn and its address. */
async function claimed(frontier: SteadyFrontier, address: string): Promise<Turn> {
  const turn = await mustTake(frontier)
  expect(await frontier.claimAddress(turn, address)).toBe(0)
  return turn
}

/** Unlike the gate that a frontier makes itself, it counts in more than half milliseconds. */
function exactGate({ domainDelayMs }: { readonly domainDelayMs: number }): IpGate {
  return new MemoryIpGate({ ipDelayMs: domainDelayMs, ipConnections: 1 })
}

export function frontierConformance(name: string, make: MakeFrontier): void {
  /** A frontier for one sentence; what it promises is checked once more when the sentence is over. */
  const law = (
    sentence: string,
    settings: Partial<FrontierSettings>,
    body: (frontier: SteadyFrontier, clock: ManualClock) => Promise<void>,
  ): void => {
    test(sentence, async () => {
      const clock = settings.clock ?? new ManualClock()
      const subject = await make({ ...DEFAULTS, ...settings, clock })
      await body(steady(subject), clock)
      subject.frontier.assertSound()
      await subject.close?.()
    })
  }

  describe(`${name}: turns`, () => {
    law('a frontier with nothing in it gives no turn and no time to come back', {}, async (frontier) => {
      expect(await frontier.take()).toBeNull()
      expect(await frontier.nextReadyMs()).toBeNull()
      expect(await frontier.figures()).toEqual({ waiting: 0, hosts: 0, ready: 0, resting: 0, parked: 0, out: 0 })
      expect(await frontier.inspect(key('a'))).toBeNull()
    })

    law('an entry comes out as it went in', { bands: 8 }, async (frontier) => {
      const via = 'http://b/' as CanonicalUrl
      const entry = entryOf('a', 'x', { via, depth: 70_000, hops: 3, band: 7, isSeed: true, tries: 2, pauses: 5 })
      await frontier.offer(entry)
      expect(await mustTake(frontier)).toEqual({ host: 'a', errand: null, entries: [entry] })
    })

    law('a host that is out gives no second turn', {}, async (frontier, clock) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.offer(entryOf('a', 2))
      await mustTake(frontier)
      clock.advance(1e9)
      expect(await frontier.take()).toBeNull()
      expect(await frontier.nextReadyMs()).toBeNull()
    })

    law('a turn comes back exactly once', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      const turn = await mustTake(frontier)
      await finish(frontier, turn, { restMs: 0 })
      await expect(finish(frontier, turn, { restMs: 0 })).rejects.toThrow(/not out/)
      await expect(frontier.claimAddress(turn, '10.0.0.1')).rejects.toThrow(/not out/)
    })

    law('an entry with a verdict waits no more, though its turn is still out', { delayMs: 0 }, async (frontier) => {
      for (let i = 0; i < 3; i++) await frontier.offer(entryOf('a', i))
      const turn = await mustTake(frontier)
      const [first, second, third] = turn.entries as [FrontierEntry, FrontierEntry, FrontierEntry]
      await frontier.conclude(second, true)
      expect((await frontier.figures()).waiting).toBe(2)
      expect((await frontier.inspect(key('a')))?.waiting).toBe(2)
      expect((await frontier.entries()).map((entry) => entry.url)).toEqual([first.url, third.url])
      expect(await frontier.pagesOf(key('a'))).toBe(1)
      await frontier.conclude({ ...first, tries: 2 }, false)
      expect(await frontier.pagesOf(key('a'))).toBe(1)
      await expect(frontier.conclude(first, true)).rejects.toThrow(/concluded before/)
      await expect(frontier.settle(turn, { restMs: 0 })).rejects.toThrow(/of 3 entries 2 have a verdict/)
      await frontier.settle(turn, { restMs: 0, unvisited: [third] })
      expect((await frontier.figures()).waiting).toBe(1)
      await expect(frontier.conclude(third, true)).rejects.toThrow(/not out/)
    })

    law('entries are filed only under their own host and in a band that exists', { bands: 3 }, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      const turn = await mustTake(frontier)
      await expect(frontier.offer(entryOf('b', 1, { band: 3 }))).rejects.toThrow(/no band 3/)
      await expect(frontier.settle(turn, { restMs: 0, again: [entryOf('b', 1)] })).rejects.toThrow(/filed under a/)
    })

    law('one URL per turn where a rest is due', { delayMs: 1 }, async (frontier) => {
      for (let i = 0; i < 5; i++) await frontier.offer(entryOf('a', i))
      expect((await mustTake(frontier)).entries).toHaveLength(1)
    })

    law('up to urlsPerTurn in one turn where no rest is due', { delayMs: 0, urlsPerTurn: 3 }, async (frontier) => {
      for (let i = 0; i < 4; i++) await frontier.offer(entryOf('a', i))
      expect((await mustTake(frontier)).entries.map((entry) => entry.url)).toEqual([
        'http://a/0',
        'http://a/1',
        'http://a/2',
      ])
    })

    law('a Crawl-delay makes turns of one URL again', { delayMs: 0, urlsPerTurn: 3 }, async (frontier) => {
      for (let i = 0; i < 4; i++) await frontier.offer(entryOf('a', i))
      await frontier.setLeastRest(key('a'), 1)
      expect((await mustTake(frontier)).entries).toHaveLength(1)
    })

    law(
      'a rest of the address makes turns of one URL too',
      { delayMs: 0, ipDelayMs: 1, urlsPerTurn: 3 },
      async (frontier) => {
        for (let i = 0; i < 4; i++) await frontier.offer(entryOf('a', i))
        expect((await mustTake(frontier)).entries).toHaveLength(1)
      },
    )

    law('a turn holds URLs of one band only', { delayMs: 0 }, async (frontier) => {
      await frontier.offer(entryOf('a', 'late', { band: 2 }))
      await frontier.offer(entryOf('a', 'soon', { band: 1 }))
      expect((await mustTake(frontier)).entries.map((entry) => entry.band)).toEqual([1])
    })

    law('the least rest is the longer of the configured and the Crawl-delay', { delayMs: 500 }, async (frontier) => {
      await frontier.setLeastRest(key('a'), 100)
      await frontier.setLeastRest(key('b'), 900)
      expect([
        await frontier.leastRestMs(key('a')),
        await frontier.leastRestMs(key('b')),
        await frontier.leastRestMs(key('c')),
      ]).toEqual([500, 900, 500])
    })
  })

  describe(`${name}: rests`, () => {
    law('a rest starts when the turn is settled, not when it was taken', {}, async (frontier, clock) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.offer(entryOf('a', 2))
      const turn = await mustTake(frontier)
      clock.advance(5_000)
      await finish(frontier, turn, { restMs: 1_000 })
      expect(await frontier.take()).toBeNull()
      expect(await frontier.nextReadyMs()).toBe(clock.nowMs() + 1_000)
      clock.advance(999)
      expect(await frontier.take()).toBeNull()
      clock.advance(1)
      expect((await mustTake(frontier)).entries[0]?.url).toBe('http://a/2')
    })

    law('a host that rests with nothing waiting still rests when a URL comes', {}, async (frontier, clock) => {
      await frontier.offer(entryOf('a', 1))
      await finish(frontier, await mustTake(frontier), { restMs: 1_000 })
      expect(await frontier.nextReadyMs()).toBeNull()
      clock.advance(400)
      await frontier.offer(entryOf('a', 2))
      expect(await frontier.take()).toBeNull()
      expect(await frontier.nextReadyMs()).toBe(clock.nowMs() + 600)
    })

    law('a rest is lengthened from outside, never shortened', {}, async (frontier, clock) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.rest(key('a'), 2_000)
      await frontier.rest(key('a'), 1_000)
      expect(await frontier.take()).toBeNull()
      expect(await frontier.inspect(key('a'))).toMatchObject({ state: 'resting', restUntilMs: clock.nowMs() + 2_000 })
      await frontier.rest(key('a'), 3_000)
      clock.advance(2_000)
      expect(await frontier.take()).toBeNull()
      clock.advance(1_000)
      await mustTake(frontier)
    })

    law('a rest given to a host that is out holds after its turn', {}, async (frontier, clock) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.offer(entryOf('a', 2))
      const turn = await mustTake(frontier)
      await frontier.rest(key('a'), 5_000)
      await finish(frontier, turn, { restMs: 10 })
      clock.advance(4_999)
      expect(await frontier.take()).toBeNull()
      clock.advance(1)
      await mustTake(frontier)
    })

    law('of many resting hosts the first to be rested is the first to be asked', {}, async (frontier, clock) => {
      const rests = [700, 100, 900, 300, 500, 200]
      for (const restMs of rests) {
        await frontier.offer(entryOf(`h${restMs}`, 1))
        await frontier.rest(key(`h${restMs}`), restMs)
      }
      const order: string[] = []
      for (let at = await frontier.nextReadyMs(); at !== null; at = await frontier.nextReadyMs()) {
        clock.advance(at - clock.nowMs())
        order.push(...(await taken(frontier)))
      }
      expect(order).toEqual(['h100', 'h200', 'h300', 'h500', 'h700', 'h900'])
    })
  })

  describe(`${name}: order`, () => {
    law(
      'within a host and band the first offered is the first handed out',
      { delayMs: 0, urlsPerTurn: 7 },
      async (frontier) => {
        const urls: string[] = []
        for (let i = 0; i < 50; i++) {
          await frontier.offer(entryOf('a', i))
          urls.push(`http://a/${i}`)
        }
        const out: string[] = []
        for (let turn = await frontier.take(); turn !== null; turn = await frontier.take()) {
          out.push(...turn.entries.map((entry) => entry.url))
          await finish(frontier, turn, { restMs: 0 })
        }
        expect(out).toEqual(urls)
      },
    )

    law('hosts of the best band go first, and those of a band take turns', {}, async (frontier) => {
      for (const [host, band] of [
        ['c', 5],
        ['a', 2],
        ['d', 5],
        ['b', 2],
      ] as const) {
        await frontier.offer(entryOf(host, 1, { band }))
        await frontier.offer(entryOf(host, 2, { band }))
      }
      expect(await taken(frontier)).toEqual(['a', 'b', 'c', 'd'])
    })

    law('a better URL moves a waiting host to the better band', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1, { band: 5 }))
      await frontier.offer(entryOf('b', 1, { band: 5 }))
      await frontier.offer(entryOf('b', 2, { band: 3 }))
      const turn = await mustTake(frontier)
      expect([turn.host, turn.entries[0]?.url]).toEqual(['b', 'http://b/2'])
      await finish(frontier, turn, { restMs: 0 })
      expect(await taken(frontier)).toEqual(['a', 'b'])
    })

    law('a host with thousands of URLs starves nobody', { delayMs: 0, urlsPerTurn: 5 }, async (frontier) => {
      for (let i = 0; i < 3_000; i++) await frontier.offer(entryOf('giant', i))
      for (let i = 0; i < 20; i++) await frontier.offer(entryOf(`small${i}`, 1))
      const first = new Set<string>()
      for (let i = 0; i < 21; i++) {
        const turn = await mustTake(frontier)
        first.add(turn.host)
        await finish(frontier, turn, { restMs: 0 })
      }
      expect(first.size).toBe(21)
    })

    law(
      'what was not visited goes back to the head, what is asked again to the tail',
      { delayMs: 0, urlsPerTurn: 3 },
      async (frontier) => {
        for (let i = 0; i < 5; i++) await frontier.offer(entryOf('a', i))
        const turn = await mustTake(frontier)
        const [first, second, third] = turn.entries as [FrontierEntry, FrontierEntry, FrontierEntry]
        await finish(frontier, turn, { restMs: 0, unvisited: [second, third], again: [{ ...first, tries: 1 }] })
        expect((await frontier.figures()).waiting).toBe(5)
        const next = await mustTake(frontier)
        await finish(frontier, next, { restMs: 0 })
        const last = await mustTake(frontier)
        expect([...next.entries, ...last.entries].map((entry) => entry.url)).toEqual(
          [1, 2, 3, 4, 0].map((i) => `http://a/${i}`),
        )
        expect(last.entries.at(-1)?.tries).toBe(1)
      },
    )
  })

  describe(`${name}: errands and parking`, () => {
    law('an errand goes before entries, alone in its turn', { delayMs: 0 }, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      const errand = errandOf('a')
      await frontier.sendErrand(errand)
      expect(await mustTake(frontier)).toEqual({ host: 'a', errand, entries: [] })
    })

    law('an errand rests its host like any request', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.sendErrand(errandOf('a'))
      await finish(frontier, await mustTake(frontier), { restMs: 1_000 })
      expect(await frontier.take()).toBeNull()
      expect((await frontier.inspect(key('a')))?.state).toBe('resting')
    })

    law('a parked host gives turns for errands only', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.park(key('a'))
      expect(await frontier.take()).toBeNull()
      expect((await frontier.inspect(key('a')))?.state).toBe('parked')
      expect(await frontier.figures()).toMatchObject({ parked: 1, ready: 0, waiting: 1 })
      await frontier.sendErrand(errandOf('a'))
      expect(await frontier.figures()).toMatchObject({ parked: 0, ready: 1 })
      const turn = await mustTake(frontier)
      expect(turn.errand).not.toBeNull()
      await finish(frontier, turn, { restMs: 0 })
      expect(await frontier.take()).toBeNull()
      await frontier.unpark(key('a'))
      expect((await mustTake(frontier)).entries).toHaveLength(1)
    })

    law('a host parked while out gives its entries back and keeps them', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      const turn = await mustTake(frontier)
      await frontier.park(key('a'))
      await finish(frontier, turn, { restMs: 0, unvisited: turn.entries })
      expect(await frontier.take()).toBeNull()
      await frontier.unpark(key('a'))
      expect((await mustTake(frontier)).entries).toEqual(turn.entries)
    })

    law('an errand may go to a host that was never offered', {}, async (frontier) => {
      await frontier.sendErrand(errandOf('elsewhere'))
      expect((await mustTake(frontier)).host).toBe('elsewhere')
      expect(await frontier.figures()).toMatchObject({ hosts: 0, waiting: 0, out: 1 })
    })

    law('an errand goes before pages of worse bands elsewhere', {}, async (frontier) => {
      await frontier.offer(entryOf('a', 1, { band: 4 }))
      await frontier.offer(entryOf('b', 1, { band: 4 }))
      await frontier.sendErrand(errandOf('b'))
      expect(await taken(frontier)).toEqual(['b', 'a'])
    })
  })

  describe(`${name}: addresses`, () => {
    law('no more than ipConnections hosts of one address are out', { ipConnections: 2 }, async (frontier) => {
      for (const host of ['a', 'b', 'c', 'd']) for (let i = 0; i < 2; i++) await frontier.offer(entryOf(host, i))
      const first = await claimed(frontier, '10.0.0.1')
      const second = await claimed(frontier, '10.0.0.1')
      const refused = await mustTake(frontier)
      expect(await frontier.claimAddress(refused, '10.0.0.1')).toBeGreaterThan(0)
      await finish(frontier, refused, { restMs: 0, unvisited: refused.entries })
      await claimed(frontier, '10.0.0.2')
      // Its address is known now: it is not even handed out.
      expect(await frontier.take()).toBeNull()
      expect(await frontier.nextReadyMs()).toBeNull()
      await finish(frontier, first, { restMs: 60_000 })
      expect((await mustTake(frontier)).host).toBe('c')
      expect(await frontier.take()).toBeNull()
      await finish(frontier, second, { restMs: 0 })
      expect((await mustTake(frontier)).host).toBe('b')
    })

    law(
      'an address rests from the start of a request and from its end',
      { ipDelayMs: 100, delayMs: 0 },
      async (frontier, clock) => {
        for (const host of ['a', 'b', 'c']) await frontier.offer(entryOf(host, 1))
        const first = await claimed(frontier, '10.0.0.1')
        for (const _ of ['b', 'c']) {
          const turn = await mustTake(frontier)
          const atMs = await frontier.claimAddress(turn, '10.0.0.1')
          expect(atMs).toBe(clock.nowMs() + 100)
          await finish(frontier, turn, { restMs: atMs - clock.nowMs(), unvisited: turn.entries })
        }
        clock.advance(99)
        expect(await frontier.take()).toBeNull()
        await finish(frontier, first, { restMs: 0 })
        clock.advance(1)
        expect(await frontier.take()).toBeNull()
        expect(await frontier.nextReadyMs()).toBe(clock.nowMs() + 99)
        clock.advance(99)
        expect((await mustTake(frontier)).host).toBe('b')
        clock.advance(100)
        expect((await mustTake(frontier)).host).toBe('c')
      },
    )

    law('claiming the same address again in a turn is claiming it once', { ipConnections: 1 }, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.offer(entryOf('a', 2))
      const turn = await claimed(frontier, '10.0.0.1')
      expect(await frontier.claimAddress(turn, '10.0.0.1')).toBe(0)
      await finish(frontier, turn, { restMs: 0 })
      expect((await mustTake(frontier)).host).toBe('a')
    })

    law('a host that has moved gives back its old address', { ipConnections: 1 }, async (frontier) => {
      for (const host of ['a', 'b']) for (let i = 0; i < 3; i++) await frontier.offer(entryOf(host, i))
      await finish(frontier, await claimed(frontier, '10.0.0.1'), { restMs: 0 })
      await finish(frontier, await claimed(frontier, '10.0.0.1'), { restMs: 0 })
      const turn = await mustTake(frontier)
      expect(turn.host).toBe('a')
      expect(await frontier.take()).toBeNull()
      expect(await frontier.claimAddress(turn, '10.0.0.2')).toBe(0)
      expect((await frontier.inspect(key('a')))?.address).toBe('10.0.0.2')
      expect((await mustTake(frontier)).host).toBe('b')
    })

    law('addresses of one IPv6 /48 share their politeness', { ipConnections: 1 }, async (frontier) => {
      await frontier.offer(entryOf('a', 1))
      await frontier.offer(entryOf('b', 1))
      await frontier.offer(entryOf('c', 1))
      await claimed(frontier, '2001:db8:1::1')
      const turn = await mustTake(frontier)
      expect(await frontier.claimAddress(turn, '2001:db8:1:ffff::2')).toBeGreaterThan(0)
      expect(await frontier.claimAddress(turn, '2001:db8:2::2')).toBe(0)
    })

    law('who waits for an address is not overtaken by who is new to it', { ipConnections: 1 }, async (frontier) => {
      for (const host of ['a', 'b']) for (let i = 0; i < 2; i++) await frontier.offer(entryOf(host, i))
      await finish(frontier, await claimed(frontier, '10.0.0.1'), { restMs: 0 })
      await finish(frontier, await claimed(frontier, '10.0.0.1'), { restMs: 0 })
      const turn = await mustTake(frontier)
      expect(await frontier.take()).toBeNull()
      await frontier.offer(entryOf('new', 1))
      const newcomer = await mustTake(frontier)
      await finish(frontier, turn, { restMs: 0 })
      expect(await frontier.claimAddress(newcomer, '10.0.0.1')).toBeGreaterThan(0)
      await finish(frontier, newcomer, { restMs: 0, unvisited: newcomer.entries })
      expect((await mustTake(frontier)).host).toBe('b')
    })

    law(
      'a host whose call came to nothing keeps its place in line',
      { ipDelayMs: 100, delayMs: 0 },
      async (frontier, clock) => {
        const all = ['a', 'x', 'b', 'c']
        for (const host of all) await frontier.offer(entryOf(host, 1, { band: 1 }))
        for (let i = 0; i < all.length; i++) {
          await finish(frontier, await claimed(frontier, '10.0.0.1'), { restMs: 0 })
          clock.advance(100)
        }
        for (const host of ['a', 'b', 'c']) await frontier.offer(entryOf(host, 2, { band: 1 }))
        const turn = await mustTake(frontier)
        expect(await frontier.take()).toBeNull()
        // The address rests from now on; 'b' is called by the release and 'x' of a better band is refused.
        await finish(frontier, turn, { restMs: 0 })
        await frontier.offer(entryOf('x', 2, { band: 0 }))
        expect(await frontier.take()).toBeNull()
        const order: string[] = []
        for (let i = 0; i < 3; i++) {
          clock.advance(100)
          order.push(...(await taken(frontier)))
        }
        expect(order).toEqual(['x', 'b', 'c'])
      },
    )
  })

  describe(`${name}: looking at it`, () => {
    law(
      'a checkpoint sees every entry once, those that are out included',
      { delayMs: 0, urlsPerTurn: 2 },
      async (frontier) => {
        const urls: string[] = []
        for (const host of ['a', 'b']) {
          for (let i = 0; i < 3; i++) {
            await frontier.offer(entryOf(host, i, { band: i % 2 }))
            urls.push(`http://${host}/${i}`)
          }
        }
        await mustTake(frontier)
        expect((await frontier.entries()).map((entry) => entry.url).sort()).toEqual(urls.sort())
      },
    )

    law('a checkpoint sees the state of every host', {}, async (frontier, clock) => {
      for (const host of ['out', 'resting', 'ready', 'parked']) await frontier.offer(entryOf(host, 1))
      const turn = await mustTake(frontier)
      await frontier.claimAddress(turn, '10.0.0.1')
      await frontier.rest(key('resting'), 100)
      await frontier.park(key('parked'))
      await frontier.setLeastRest(key('idle'), 9_000)
      const states = new Map((await frontier.hostStates()).map((state) => [state.host as string, state]))
      expect([...states.keys()].sort()).toEqual(['idle', 'out', 'parked', 'ready', 'resting'])
      for (const [host, state] of states) expect(state.state).toBe(host)
      expect(states.get('out')).toMatchObject({ address: '10.0.0.1', waiting: 1 })
      expect(states.get('resting')?.restUntilMs).toBe(clock.nowMs() + 100)
      expect(states.get('idle')).toMatchObject({ leastRestMs: 9_000, waiting: 0 })
      expect(await frontier.figures()).toEqual({ waiting: 4, hosts: 4, ready: 1, resting: 1, parked: 1, out: 1 })
    })
  })

  describe(`${name}: against the model`, () => {
    const crowd = fc.record({
      delayMs: fc.constant(0),
      ipDelayMs: fc.constantFrom(0, 50),
      ipConnections: fc.integer({ min: 1, max: 2 }),
      urlsPerTurn: fc.constant(1),
      bands: fc.constant(3),
      domainDelayMs: fc.constantFrom(0, 40),
    })
    const settings = fc.record({
      delayMs: fc.constantFrom(0, 0, 1_000),
      ipDelayMs: fc.constantFrom(0, 0, 50),
      ipConnections: fc.integer({ min: 1, max: 3 }),
      urlsPerTurn: fc.integer({ min: 1, max: 4 }),
      bands: fc.constantFrom(1, 4),
      domainDelayMs: fc.constantFrom(0, 0, 40),
    })

    test('after any sequence of operations it has kept every law', async () => {
      await fc.assert(
        fc.asyncProperty(settings, fc.array(operations, { maxLength: 150, size: 'max' }), async (chosen, sequence) => {
          const clock = new ManualClock()
          const subject = await make({ ...chosen, clock, domainGate: exactGate(chosen) })
          await checkAgainstModel(subject, { ...chosen, clock }, sequence)
          await subject.close?.()
        }),
        { numRuns: 250 },
      )
    })

    test('with all hosts on one crowded address it has kept every law', async () => {
      await fc.assert(
        fc.asyncProperty(
          crowd,
          fc.array(operations, { minLength: 60, maxLength: 200, size: 'max' }),
          async (chosen, sequence) => {
            const clock = new ManualClock()
            const oneAddress = sequence.map((operation) =>
              operation.kind === 'claim' ? { ...operation, address: 0 } : operation,
            )
            const subject = await make({ ...chosen, clock, domainGate: exactGate(chosen) })
            await checkAgainstModel(subject, { ...chosen, clock }, oneAddress)
            await subject.close?.()
          },
        ),
        { numRuns: 150 },
      )
    })
  })
}
