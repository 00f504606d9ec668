// Members over the engine's twin: join, move, refuse, answer; and what operators ask and see.

import { afterEach, expect, test } from 'vitest'
import { Fault, ManualClock } from '../base/index.ts'
import { MemoryEngine, type MemoryClient } from '../engine/index.ts'
import { placeByRendezvous } from '../../test/cluster/simulated-cluster.ts'
import { initCluster, makeWish, nodeNameOf, readDefinition } from './cluster-commands.ts'
import { makeChange } from './changes.ts'
import { ClusterMember, type WayOut } from './cluster-member.ts'
import { clusterStatus } from './cluster-status.ts'
import { Lease } from './lease.ts'
import type { ShareStanding } from './share-desk.ts'

const SHARES = 6
const DEFINITION = {
  identity: 'crawl-1',
  shares: SHARES,
  assignment: 'rendezvous',
  leaseMs: 15_000,
  marginMs: 5_000,
  settings: { scope: 'host' },
  seeds: ['http://127.0.0.1/'],
  createdAt: '2026-01-01T00:00:00Z',
}

class Stand {
  readonly clock = new ManualClock()
  readonly engine = MemoryEngine.create({ clock: this.clock })
  readonly logs: ShareStanding[] = Array.from({ length: SHARES }, () => ({
    epoch: 0,
    holder: null,
    last: 0,
    released: false,
  }))
  readonly members: ClusterMember[] = []
  readonly said: string[] = []
  isDiskFull = false
  /** Nobody waits for an engine that is away any more. */
  isGivenUp = false
  /** What giving up a share waits for. */
  giving: Promise<void> = Promise.resolve()
  #incarnations = 0

  async start(
    node: string,
    client: MemoryClient = this.engine.client(),
  ): Promise<{ member: ClusterMember; lease: Lease; ways: WayOut[] }> {
    const lease = new Lease(Lease.allocate(), this.clock, 0)
    const ways: WayOut[] = []
    const member = await ClusterMember.start({
      node,
      weight: 1,
      version: '0.1.0',
      host: `${node}.test`,
      shares: SHARES,
      leaseMs: DEFINITION.leaseMs,
      marginMs: DEFINITION.marginMs,
      place: placeByRendezvous,
      newIncarnation: () => {
        if (this.isDiskFull) throw new Fault('DISK_FULL', 'no room')
        return `i${++this.#incarnations}`
      },
      knownDead: [],
      takesAtOnceMax: 4,
      givesAtOnceMax: 4,
      engine: client,
      clock: this.clock,
      lease,
      keeper: {
        standing: async (share) => this.#log(share),
        take: async (share, seen, holder) => {
          const log = this.#log(share)
          if (log.last !== seen.last) return null
          this.logs[share] = { epoch: log.epoch + 1, holder, last: log.last + 1, released: false }
          return { epoch: log.epoch + 1 }
        },
        giveUp: async (share) => {
          await this.giving
          const log = this.#log(share)
          this.logs[share] = { ...log, last: log.last + 1, released: true }
        },
      },
      owner: {
        fenced: () => this.said.push(`${node} fenced`),
        resumed: () => this.said.push(`${node} resumed`),
        reborn: (incarnation) => this.said.push(`${node} reborn ${incarnation}`),
        viewed: ({ number }) => this.said.push(`${node} view ${number}`),
        out: (way) => ways.push(way),
      },
      answer: async (question) => new TextEncoder().encode(`${node} heard ${new TextDecoder().decode(question)}`),
      waitsForEngine: () => {
        this.said.push(`${node} waits`)
        return !this.isGivenUp
      },
    })
    this.members.push(member)
    return { member, lease, ways }
  }

  #log(share: number): ShareStanding {
    return this.logs[share] as ShareStanding
  }

  /** Time in small steps, so that what is asked is answered in between. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 250) {
      this.clock.advance(250)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  holders(): string[] {
    return this.logs.map(({ holder, released }) => (holder === null || released ? '' : holder.node))
  }

  expected(...nodes: string[]): (string | null)[] {
    return placeByRendezvous(
      SHARES,
      nodes.map((name) => ({ name, weight: 1 })),
    )
  }
}

let stand = new Stand()
afterEach(() => {
  for (const member of stand.members) member.close()
  stand = new Stand()
})

test('a node alone takes everything; a second one takes its part when it was released', async () => {
  const { lease } = await stand.start('ada')
  await stand.pass(3_000)
  expect(stand.holders()).toEqual(stand.expected('ada'))
  expect(lease.isValid()).toBe(true)
  await stand.start('bea')
  await stand.pass(5_000)
  expect(stand.holders()).toEqual(stand.expected('ada', 'bea'))
  expect(stand.members.map(({ view }) => view.members.map(({ node }) => node))).toEqual([
    ['ada', 'bea'],
    ['ada', 'bea'],
  ])
})

test('a crash is followed by a takeover within 25 seconds; a fenced node says so in time', async () => {
  const client = stand.engine.client()
  const { lease } = await stand.start('ada', client)
  await stand.start('bea')
  await stand.pass(5_000)
  client.cut()
  await stand.pass(15_250)
  expect(lease.isValid()).toBe(false)
  expect(stand.said).toContain('ada fenced')
  expect(stand.holders()).toEqual(stand.expected('ada', 'bea'))
  await stand.pass(9_500)
  expect(stand.holders()).toEqual(stand.expected('bea'))
  client.restore()
  await stand.pass(10_000)
  expect(stand.said).toContain('ada reborn i3')
  expect(stand.holders()).toEqual(stand.expected('ada', 'bea'))
})

test('whoever comes while the engine is away waits for it, takes its part then, and takes nobody for dead for that', async () => {
  await stand.start('ada')
  await stand.pass(3_000)
  const client = stand.engine.client()
  client.cut()
  const coming = stand.start('bea', client)
  await stand.pass(60_000)
  expect(stand.said).toContain('bea waits')
  client.restore()
  await stand.pass(15_000)
  await coming
  expect(stand.holders()).toEqual(stand.expected('ada', 'bea'))
  expect(stand.said.filter((line) => line.includes('reborn') || line.includes('fenced'))).toEqual([])
})

test('whoever is to stop does not wait for an engine that is away', async () => {
  const client = stand.engine.client()
  client.cut()
  const coming = stand.start('ada', client)
  const failed = expect(coming).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  await stand.pass(20_000)
  stand.isGivenUp = true
  await stand.pass(20_000)
  await failed
})

test('a name in use is refused, with who has it and where', async () => {
  await stand.start('ada')
  await stand.pass(3_000)
  const { ways } = await stand.start('ada')
  await stand.pass(10_000)
  expect(ways).toMatchObject([{ kind: 'refused', fault: { code: 'CLUSTER_REFUSED' } }])
  const [way] = ways
  expect(way?.kind === 'refused' && way.fault.message).toMatch(
    /a node named ada takes part already \(incarnation i1, since .* on ada\.test\)/,
  )
})

test('a node leaves in order, and is removed by a wish', async () => {
  const { member, ways } = await stand.start('ada')
  const bea = await stand.start('bea')
  await stand.start('cai')
  await stand.pass(5_000)
  member.leave()
  await makeWish(stand.engine.client(), { kind: 'remove', node: 'bea', by: 'me', at: 'now' })
  await stand.pass(5_000)
  expect(ways).toEqual([{ kind: 'left' }])
  expect(bea.ways).toEqual([{ kind: 'removed' }])
  expect(stand.holders()).toEqual(stand.expected('cai'))
})

test('what is written by something else ends our part with what to do, and nothing is acted on', async () => {
  const client = stand.engine.client()
  await client.records.create('view.1', new TextEncoder().encode('{"members": 7}'))
  await expect(stand.start('ada')).rejects.toThrow(/record view\.1 of the cluster cannot be read \(members\)/)
})

test('the end of the crawl is heard by all: shares are released, all go, the reason is kept', async () => {
  const { member, ways } = await stand.start('ada')
  const bea = await stand.start('bea')
  await stand.pass(5_000)
  member.end('finished')
  await stand.pass(5_000)
  expect([...ways, ...bea.ways]).toEqual([
    { kind: 'ended', reason: 'finished' },
    { kind: 'ended', reason: 'finished' },
  ])
  expect(stand.logs.every(({ released }) => released)).toBe(true)
  const late = await stand.start('cai')
  await stand.pass(3_000)
  expect(late.ways).toEqual([{ kind: 'ended', reason: 'finished' }])
})

test('an end is the end under a change: with a later one it is none, for those who are there and for those who come', async () => {
  const engine = stand.engine.client()
  const change = { id: '1', seeds: [], settings: null, options: null, isLive: false, by: 'me', at: 'now' }
  const { member, ways } = await stand.start('ada')
  await stand.pass(5_000)
  // The end is decided under what was known then, and the change is there first.
  expect(await makeChange(engine, () => change)).toBe(1)
  member.end('finished', 0)
  await stand.pass(5_000)
  expect(ways).toEqual([])
  expect(await member.lastChange()).toBe(1)
  expect(stand.holders()).toEqual(stand.expected('ada'))
  member.end('finished')
  await stand.pass(5_000)
  expect(ways).toEqual([{ kind: 'ended', reason: 'finished' }])
  const late = await stand.start('cai')
  await stand.pass(3_000)
  expect(late.ways).toEqual([{ kind: 'ended', reason: 'finished' }])
  // It had ended, and goes on with what comes after that.
  await makeChange(engine, () => ({ ...change, id: '2' }))
  const next = await stand.start('dan')
  await stand.pass(5_000)
  expect(next.ways).toEqual([])
  expect(stand.holders()).toEqual(stand.expected('dan'))
})

test('a change that is heard of while all give up their shares brings them back', async () => {
  const { member, ways } = await stand.start('ada')
  const bea = await stand.start('bea')
  await stand.pass(5_000)
  let isGiven = (): void => {}
  stand.giving = new Promise((resolve) => (isGiven = resolve))
  member.end('finished')
  await stand.pass(2_000)
  expect(member.report().shares.map(({ phase }) => phase)).toContain('giving')
  const change = { id: '1', seeds: [], settings: null, options: null, isLive: false, by: 'me', at: 'now' }
  await makeChange(stand.engine.client(), () => change)
  await stand.pass(3_000)
  isGiven()
  await stand.pass(5_000)
  expect([...ways, ...bea.ways]).toEqual([])
  expect(stand.holders()).toEqual(stand.expected('ada', 'bea'))
})

test('an end that the engine did not take when it was decided is said until it is heard', async () => {
  const client = stand.engine.client()
  const { member, ways } = await stand.start('ada', client)
  await stand.pass(5_000)
  client.failNext('create', 'not-done')
  member.end('finished')
  await stand.pass(20_000)
  expect(ways).toEqual([{ kind: 'ended', reason: 'finished' }])
})

test('a node that cannot write its next name down goes, with the fault', async () => {
  const client = stand.engine.client()
  const { ways } = await stand.start('ada', client)
  await stand.start('bea')
  await stand.pass(5_000)
  client.cut()
  stand.isDiskFull = true
  await stand.pass(30_000)
  client.restore()
  await stand.pass(5_000)
  expect(ways).toMatchObject([{ kind: 'refused', fault: { code: 'DISK_FULL' } }])
})

test('status: members, beats, shares held and targeted, and what nodes answer; questions by name reach the node', async () => {
  const engine = stand.engine.client()
  const definition = await initCluster(engine, DEFINITION)
  await stand.start('ada')
  const bea = await stand.start('bea')
  await stand.pass(5_000)
  bea.member.close()
  await stand.pass(4_000)
  const status = await clusterStatus({
    engine,
    clock: stand.clock,
    definition,
    place: placeByRendezvous,
    standing: async (share) => stand.logs[share] as ShareStanding,
    withinMs: 1_000,
  })
  expect(status).toMatchObject({ run: 1, state: 'running', view: { number: 2 } })
  const [ada, gone] = status.nodes
  expect(ada).toMatchObject({
    node: 'ada',
    host: 'ada.test',
    viewsBehind: 0,
    report: { phase: 'member', isFenced: false },
  })
  expect(ada?.shares).toEqual(ada?.targets)
  expect(ada?.beatAgeMs).toBeLessThanOrEqual(3_000)
  expect(gone).toMatchObject({ node: 'bea', report: null })
  expect(gone?.beatAgeMs).toBeGreaterThanOrEqual(4_000)
  expect(status.shares.every(({ epoch }) => epoch >= 1)).toBe(true)
  const answer = await engine.call('node', 'ada', new TextEncoder().encode('hello'), 1_000)
  expect(new TextDecoder().decode(answer)).toBe('ada heard hello')
})

test('a crawl is set up once; another of its name, another state and another format are refused with what to do', async () => {
  const engine = stand.engine.client()
  await expect(readDefinition(engine)).rejects.toThrow(/portolan cluster init/)
  await initCluster(engine, DEFINITION)
  expect((await initCluster(engine, DEFINITION)).identity).toBe('crawl-1')
  await expect(initCluster(engine, { ...DEFINITION, identity: 'crawl-2' })).rejects.toThrow(/set up at 2026-01-01/)
  expect(await readDefinition(engine, 'crawl-1')).toMatchObject(DEFINITION)
  await expect(readDefinition(engine, 'crawl-0')).rejects.toThrow(/another crawl/)
  const other = MemoryEngine.create({ clock: stand.clock }).client()
  await other.records.create('crawl', new TextEncoder().encode(JSON.stringify({ ...DEFINITION, format: 2 })))
  await expect(readDefinition(other)).rejects.toThrow(/format 2 .* speaks 1/)
})

test('seeds that a record does not hold are kept beside it', async () => {
  const engine = stand.engine.client()
  const seeds = Array.from({ length: 40_000 }, (_, i) => `http://host-${i}.test/`)
  await initCluster(engine, { ...DEFINITION, seeds })
  expect((await readDefinition(engine)).seeds).toEqual(seeds)
})

test('wishes about nodes nobody knows are refused; those of several at once all count', async () => {
  const engine = stand.engine.client()
  await expect(makeWish(engine, { kind: 'drain', node: 'eve', by: 'me', at: 'now' })).rejects.toThrow(
    /no node named eve/,
  )
  const wishes = ['stop', 'go', 'stop'] as const
  const numbers = await Promise.all(
    wishes.map(async (kind) => makeWish(stand.engine.client(), { kind, node: null, by: 'me', at: 'now' })),
  )
  expect(numbers.sort((a, b) => a - b)).toEqual([1, 2, 3])
})

test('host names become names of nodes', () => {
  expect(nodeNameOf('web-1.example.org')).toBe('web-1-example-org')
  expect(nodeNameOf('…')).toBe('node')
})
