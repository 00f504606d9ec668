// What agents know is the same before and after it is shared anew, to the last URL; only who knows it is not.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type CrawlPlan,
  type CrawlSettings,
  type CrawlTotals,
  NewShare,
  NewShareFiles,
  OldShare,
  sumTotals,
} from '../agent/index.ts'
import { SECTIONS } from '../agent/options.ts'
import { ManualClock, Random } from '../base/index.ts'
import { type ExchangeState, Owners } from '../exchange/index.ts'
import { type FrontierEntry, type HandedHost, SharedIpGate } from '../frontier/index.ts'
import {
  type CrawlIdentity,
  emptyBatch,
  type LedgerBatch,
  lookAtLastBatch,
  type OriginalNote,
  SegmentedJournal,
} from '../ledger/index.ts'
import type { FailureRecord, PageRecord } from '../store/index.ts'
import { type CanonicalUrl, type FingerprintKey, Fingerprinter, type HostKey, slotOf } from '../url/index.ts'
import { writeLayout } from '../view/index.ts'
import { reshare } from './reshare.ts'

const identity: CrawlIdentity = { name: 'test', key: '0011223344556677', startedAtMs: 5 }
const KEY: FingerprintKey = [0x33221100, 0x77665544]
const clock = new ManualClock()
const settings = Object.fromEntries(
  Object.entries(SECTIONS).map(([room, section]) => [room, section.parse({})]),
) as unknown as CrawlSettings

function planOf(dir: string, names: readonly string[], agent: number): CrawlPlan {
  return {
    dir: join(dir, names[agent] as string),
    isLocked: true,
    share: {
      agent,
      agents: names.length,
      here: names.length,
      crawlDir: dir,
      ipGate: new SharedIpGate(SharedIpGate.allocate(1, 1), 0, { ipDelayMs: 0, ipConnections: 1 }, 0),
      domainGate: null,
      turns: [],
      onIdle: () => {},
      mayClose: async () => {},
      onShort: () => {},
    },
    seeds: [],
    settings,
    clock,
    random: new Random(agent),
    newIdentity: () => identity,
    software: 'Portolan/test',
    environment: {},
    cpuMs: () => 0,
    peakRssBytes: () => 0,
  }
}

/** Everything that some shares know, in an order that does not depend on them. */
interface Known {
  readonly hosts: Map<string, Omit<HandedHost, 'entries' | 'restMs'> & { readonly entries: readonly FrontierEntry[] }>
  readonly rests: Map<string, number>
  readonly met: Map<string, number>
  /** Lines of all files, sorted. */
  readonly lines: readonly string[]
  readonly seeds: readonly string[]
  readonly totals: CrawlTotals
  readonly options: unknown
}

/** Reads all of it, and sees to it that everything is with whoever owns it. */
async function read(dir: string, names: readonly string[]): Promise<Known> {
  const owners = new Owners(0, names.length)
  const totals: CrawlTotals[] = []
  const known = { hosts: new Map() as Known['hosts'], rests: new Map<string, number>(), met: new Map<string, number>() }
  const lines: string[] = []
  const strays: string[] = []
  const seeds: string[][] = []
  const options: unknown[] = []
  for (const agent of names.keys()) {
    const share = await OldShare.open(planOf(dir, names, agent))
    const expectOwn = (url: string): void => {
      share.fingerprinter.compute(url as CanonicalUrl)
      if (owners.ofSlot(slotOf(share.fingerprinter.high)) !== agent) strays.push(url)
    }
    const add = async (
      kind: string,
      records: AsyncIterable<object>,
      urlOf: (record: never) => string,
    ): Promise<void> => {
      for await (const record of records) {
        expectOwn(urlOf(record as never))
        lines.push(`${kind} ${JSON.stringify(record)}`)
      }
    }
    await add('page', share.pages(), ({ url }: PageRecord) => url)
    await add('failure', share.failures(), ({ url }: FailureRecord) => url)
    await add('held', share.held(), ({ url }: FrontierEntry) => url)
    await add('robots', share.robots(), ({ origin }: { origin: string }) => `${origin}/`)
    await add('given up', share.givenUp(), ({ key }: { key: string }) =>
      key.includes('://') ? `${key}/` : `http://${key}/`,
    )
    await add('manners', share.manners(), ({ host }: { host: string }) => `http://${host}/`)
    for await (const note of share.originals()) {
      if (owners.ofDigest(Buffer.from(note.digest, 'hex')) !== agent) strays.push(note.digest)
      lines.push(`original ${JSON.stringify(note)}`)
    }
    let waiting = 0
    for await (const { restMs, entries, ...facts } of share.hosts()) {
      expectOwn(`http://${facts.host}/`)
      expect(known.hosts.has(facts.host)).toBe(false)
      const all = await Array.fromAsync(entries)
      waiting += all.length
      known.hosts.set(facts.host, { ...facts, entries: all })
      known.rests.set(facts.host, restMs)
    }
    for (const _ of share.seen((high, low, meetings) => {
      if (owners.ofSlot(slotOf(high)) !== agent) strays.push(`${high} ${low}`)
      known.met.set(`${high} ${low}`, meetings)
    }));
    const { failed, pages, admitted, skipped } = share.totals
    const settled = Object.values(skipped).reduce((sum: number, count) => sum + count, pages + failed)
    expect(admitted - settled).toBe(waiting)
    totals.push(share.totals)
    seeds.push(share.seeds.map((seed) => JSON.stringify(seed)))
    options.push(share.options)
    await share.close()
  }
  expect(strays).toEqual([])
  for (const one of seeds) expect(one).toEqual(seeds[0])
  for (const one of options) expect(one).toEqual(options[0])
  return { ...known, lines: lines.sort(), seeds: seeds[0] ?? [], totals: sumTotals(totals), options: options[0] }
}

/** One agent's share with a bit of everything, and `giant` URLs of one host. */
async function write(dir: string, name: string, giant: number): Promise<void> {
  const random = new Random('world')
  const plan = planOf(dir, [name], 0)
  const files = await NewShareFiles.create(plan)
  const hosts = Array.from({ length: 60 }, (_, i) => `h${i}.test` as HostKey)
  const hexOf = (): string => Array.from({ length: 64 }, () => random.below(16).toString(16)).join('')
  const entryOf = (host: HostKey, place: number): FrontierEntry => ({
    url: `http://${host}/${place}` as CanonicalUrl,
    host,
    via: random.below(4) === 0 ? null : (`http://${hosts[random.below(60)]}/via/${random.below(9)}` as CanonicalUrl),
    depth: random.below(5),
    hops: random.below(3),
    band: random.below(3),
    isSeed: random.below(50) === 0,
    tries: random.below(3),
    pauses: random.below(2),
  })
  await files.add('seeds', { url: 'http://h0.test/' as CanonicalUrl, via: null })
  await files.add('seeds', { url: 'http://h1.test/' as CanonicalUrl, via: 'http://h0.test/' as CanonicalUrl })
  for (const [place, host] of hosts.entries()) {
    const common = { url: `http://${host}/page`, depth: 1, via: null }
    const page = { ...common, status: 200 + random.below(300), bytes: random.below(999), wireBytes: random.below(999) }
    await files.add('pages', page as unknown as PageRecord)
    const failure = { ...common, url: `http://${host}/gone`, detail: '', at: '' }
    if (place % 3 === 0) await files.add('failures', { ...failure, kind: 'failed', reason: 'DNS_TIMEOUT' })
    if (place % 3 === 1) await files.add('failures', { ...failure, kind: 'skipped', reason: 'host-budget' })
    await files.add('held', { ...entryOf(host, 9_000), url: `http://${host}/deep` as CanonicalUrl })
    const given = { code: 'DNS_TIMEOUT', detail: '', untilWallMs: 1e15 } as const
    await files.add('givenUp', { ...given, key: place % 2 === 0 ? host : `https://${host}:8443` })
    const learnt = { restMs: 2_000 + place, refusedMs: 1_500, refusals: 2, answers: 0 }
    await files.add('manners', { host, atWallMs: 1, untilWallMs: 1e15, why: '429', learnt })
    const note: OriginalNote = { digest: hexOf(), url: page.url as CanonicalUrl, fetchedAtMs: 1, payloadDigest: null }
    await files.add('originals', note)
  }
  await files.commit({ maxDepth: 3, hostPages: null, sessionIds: ['sid'], scope: 'all', wasRescoped: false })
  const share = await NewShare.open(plan)
  for (let i = 0; i < 5_000; i++) share.met(random.below(2 ** 32), random.below(2 ** 32), 1 + random.below(9))
  for (const [place, host] of hosts.entries()) {
    const count = place === 7 ? giant : random.below(200)
    const facts = { host, wasOffered: true, pages: 1, leastRestMs: place % 5 === 0 ? 500 * place : 0 }
    async function* entries(): AsyncGenerator<FrontierEntry> {
      for (let i = 0; i < count; i++) yield entryOf(host, i)
    }
    await share.takeOver({ ...facts, restMs: place * 100, entries: entries() })
  }
  const { totals } = share
  await share.commit({ ...totals, ms: 1_234, cpuMs: 567, refused: { scheme: 3 } })
}

test.for([0, 40_000])(
  '1, 3, 2, 5 and 1 agents by turns, a host with %d URLs among others',
  { timeout: 300_000 },
  async (giant) => {
    const dir = mkdtempSync(join(tmpdir(), 'portolan-reshare-'))
    onTestFinished(() => rmSync(dir, { recursive: true }))
    let names = ['state/agents/0']
    await write(dir, 'state/agents/0', giant)
    await writeLayout(dir, names)
    const before = await read(dir, names)
    expect(before.hosts.get('h7.test')?.entries).toHaveLength(giant)
    expect(before.totals).toMatchObject({ pages: 60, failed: 20, ms: 1_234, cpuMs: 567, hosts: 60 })
    for (const [turn, agents] of [3, 2, 5, 1].entries()) {
      const to = Array.from({ length: agents }, (_, agent) => `state/agents/${turn + 2}-${agent}`)
      const told: number[] = []
      const common = { dir, settings, clock, identity, software: 'Portolan/test', environment: {} }
      await reshare({ ...common, from: names, to, onBegin: (urls) => told.push(urls) })
      expect(told).toEqual([before.totals.admitted])
      names = to
      const { rests, ...after } = await read(dir, names)
      const { rests: restsBefore, ...expected } = before
      expect(after).toEqual(expected)
      // A rest begins anew with every opening; it is never shorter than it was.
      for (const [host, restMs] of restsBefore) expect(rests.get(host), host).toBeGreaterThanOrEqual(restMs)
    }
  },
)

/** Another batch of an agent, with something for others, and what it says of the exchange. */
async function addBatch(
  share: string,
  exchange: ExchangeState,
  said: Partial<Pick<LedgerBatch, 'abroad' | 'originals'>>,
): Promise<void> {
  const directory = join(share, 'state/journal')
  const last = await lookAtLastBatch(directory)
  const journal = await SegmentedJournal.open({ directory, random: new Random('more'), create: () => identity })
  const files = { ...last?.batch.files, exchange }
  await journal.commit({ ...emptyBatch(), ...said, files, totals: last?.batch.totals })
  await journal.close()
}

test('what is on its way arrives: what its receiver does not hold, and no more', { timeout: 300_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-reshare-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const common = { dir, settings, clock, identity, software: 'Portolan/test', environment: {}, onBegin: () => {} }
  await write(dir, 'state/agents/0', 0)
  const two = ['state/agents/2-0', 'state/agents/2-1']
  await reshare({ ...common, from: ['state/agents/0'], to: two })
  const before = await read(dir, two)
  const owners = new Owners(0, 2)
  const fingerprinter = new Fingerprinter(KEY)
  const ownerOf = (url: string): number => {
    fingerprinter.compute(url as CanonicalUrl)
    return owners.ofSlot(slotOf(fingerprinter.high))
  }
  const hosts = Array.from({ length: 50 }, (_, i) => `new${i}.test` as HostKey).filter(
    (host) => ownerOf(`http://${host}/`) === 1,
  )
  const linkTo = (host: HostKey | undefined, path: string, isSeed = false): FrontierEntry => {
    const url = `http://${host}/${path}` as CanonicalUrl
    const via = 'http://h0.test/found-here' as CanonicalUrl
    return { url, host: host as HostKey, via, depth: 4, hops: 1, band: 2, isSeed, tries: 0, pauses: 0 }
  }
  const noteOf = (letter: string): OriginalNote => {
    // Owned by the second agent, whatever the letter.
    const start = Array.from({ length: 999 }, (_, i) => i.toString(16).padStart(4, '0')).find(
      (text) => owners.ofDigest(Buffer.from(text, 'hex')) === 1,
    )
    const digest = `${start}${letter.repeat(60)}`
    return { digest, url: `http://h0.test/${letter}` as CanonicalUrl, fetchedAtMs: 7, payloadDigest: null }
  }
  const [held, link, seed] = [linkTo(hosts[0], 'held'), linkTo(hosts[1], 'link'), linkTo(hosts[2], 'seed', true)]
  // Batches 3 and 4 of the first agent; of these the second holds batch 3. The link is told of twice, and is one.
  const [sender, receiver] = [join(dir, 'state/agents/2-0'), join(dir, 'state/agents/2-1')]
  await addBatch(sender, { settled: 2, holds: [0, 0] }, { abroad: [held], originals: [noteOf('a')] })
  await addBatch(sender, { settled: 2, holds: [0, 0] }, { abroad: [link, seed, link], originals: [noteOf('b')] })
  await addBatch(receiver, { settled: 2, holds: [3, 0] }, {})

  const three = [0, 1, 2].map((agent) => `state/agents/3-${agent}`)
  await reshare({ ...common, from: two, to: three })
  const after = await read(dir, three)
  expect(after.lines).toEqual([...before.lines, `original ${JSON.stringify(noteOf('b'))}`].sort())
  expect([...after.hosts.keys()].filter((host) => !before.hosts.has(host)).sort()).toEqual(
    [link.host, seed.host].sort(),
  )
  expect(after.hosts.get(link.host)?.entries).toEqual([link])
  expect(after.hosts.get(seed.host)?.entries).toEqual([seed])
  expect(after.met.size).toBe(before.met.size + 2)
  expect(after.totals.admitted).toBe(before.totals.admitted + 2)
})
