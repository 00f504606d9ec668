// A link that goes to an agent on another machine: outbox, packet, engine, inbox, unpacked at its owner, confirmed.
//
// Links are those that the pages of Debian's documentation have to other sites, each once, in the order of their pages, as an agent
// that remembers what it has sent would send them. CPU is that of both agents, which are in this process; a NATS server has its own.

import { systemClock } from '../src/base/index.ts'
import { connectEngine, type Engine, MemoryEngine } from '../src/engine/index.ts'
import { EngineWires } from '../src/exchange/engine-wires.ts'
import { Inbox, Outbox, type Wire } from '../src/exchange/index.ts'
import type { FrontierEntry } from '../src/frontier/index.ts'
import { unpackEntries } from '../src/ledger/index.ts'
import { scanHtml } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { BaseUrl, type CanonicalUrl, compileCanonicaliser, hostKeyOf } from '../src/url/index.ts'
import { startNats } from '../test/nats-servers.ts'
import { corpusPages } from './corpus.ts'

const PACKAGES = ['postgresql-doc-15', 'apache2-doc', 'python3.11-doc']
const ROUNDS = 5
const LINKS = 40_000

export interface EngineLinks {
  readonly us: number
  readonly bytes: number
}

/** What the pages have for others, each link once. */
export function foreignLinks(): FrontierEntry[] {
  const options = parseOptions.parse({})
  const canonicalise = compileCanonicaliser({ urlLength: 2_083, sessionIds: [] })
  const seen = new Set<CanonicalUrl>()
  const entries: FrontierEntry[] = []
  for (const { path, bytes } of corpusPages(PACKAGES)) {
    const via = `http://docs.example${path}` as CanonicalUrl
    const { spans } = scanHtml(Uint8Array.from(bytes), { charset: 'utf-8' }, options)
    for (let i = 0; i < spans.count; i++) {
      const url = canonicalise(spans.href(i), BaseUrl.of(via), 'utf-8')
      if (typeof url !== 'string' || !url.startsWith('http') || url.startsWith('http://docs.example/')) continue
      if (seen.has(url)) continue
      seen.add(url)
      const host = hostKeyOf(url)
      entries.push({ url, host, via, depth: 3, hops: 0, band: 2, isSeed: false, tries: 0, pauses: 0 })
    }
  }
  return entries
}

/** Batches of so many links, again and again until there are enough. */
function batchesOf(links: readonly FrontierEntry[], linksPerBatch: number): FrontierEntry[][] {
  const batches: FrontierEntry[][] = []
  for (let at = 0; batches.length * linksPerBatch < LINKS; at += linksPerBatch) {
    if (at + linksPerBatch > links.length) at = 0
    batches.push(links.slice(at, at + linksPerBatch))
  }
  return batches
}

async function wiresOver(one: Engine, two: Engine): Promise<{ ends: [Wire, Wire]; all: [EngineWires, EngineWires] }> {
  const given: (Wire | undefined)[] = []
  return new Promise((resolve) => {
    const start = (share: number, engine: Engine): EngineWires =>
      new EngineWires({
        engine,
        crawl: 'bench',
        share,
        shares: 2,
        epoch: 1,
        clock: systemClock,
        onWire: (_, wire) => {
          given[share] = wire
          const [first, second] = given
          // Both stand in the list by then: a wire needs the other's answer.
          if (first !== undefined && second !== undefined) setImmediate(() => resolve({ ends: [first, second], all }))
        },
      })
    const all: [EngineWires, EngineWires] = [start(0, one), start(1, two)]
  })
}

async function measure(one: Engine, two: Engine, batches: readonly FrontierEntry[][]): Promise<EngineLinks> {
  const {
    ends: [here, there],
    all,
  } = await wiresOver(one, two)
  const apply = async (parcel: { readonly entries: string }, entered: () => void): Promise<void> => {
    unpackEntries(parcel.entries)
    entered()
  }
  const inbox = new Inbox({ agents: 2, holds: [], apply })
  there.listen((message) => {
    if (message.kind !== 'parcel') return
    const { parcel } = message
    void inbox.receive(0, parcel).then(() => there.send({ kind: 'confirmed', upTo: parcel.number }))
  })
  const outbox = new Outbox({
    self: 0,
    agents: 2,
    ownerOfEntry: () => 1,
    ownerOfDigest: () => 1,
    bytesMax: 2 ** 24,
  })
  let onEmpty = (): void => {}
  here.listen((message) => {
    if (message.kind !== 'confirmed') return
    outbox.confirm(1, message.upTo)
    if (outbox.isEmpty) onEmpty()
  })
  const links = batches.reduce((sum, batch) => sum + batch.length, 0)
  let number = 0
  let us = Infinity
  let bytes = 0
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    const bytesBefore = all[0].figures.bytes
    const empty = new Promise<void>((resolve) => (onEmpty = resolve))
    for (const abroad of batches) {
      outbox.take(++number, { abroad, originals: [] })
      const parcel = outbox.pending(1).at(-1)
      if (parcel !== undefined) here.send({ kind: 'parcel', parcel })
      // Batches come one by one, each in a turn of its own.
      await new Promise((resolve) => void setImmediate(resolve))
    }
    await empty
    const { user, system } = process.cpuUsage(before)
    us = Math.min(us, (user + system) / links)
    bytes = (all[0].figures.bytes - bytesBefore) / links
  }
  for (const wires of all) wires.close()
  return { us, bytes }
}

/** Tells of each engine and each size of parcels what a link costs. */
export async function measureEngineLinks(
  tell: (engine: string, perBatch: number, cost: EngineLinks) => void,
): Promise<void> {
  const links = foreignLinks()
  for (const perBatch of [40, 400]) {
    const engine = MemoryEngine.create()
    tell('in memory', perBatch, await measure(engine.client(), engine.client(), batchesOf(links, perBatch)))
  }
  await using servers = await startNats()
  for (const perBatch of [40, 400]) {
    const [one, two] = await Promise.all(
      ['one', 'two'].map((node) => connectEngine({ servers: servers.urls, crawl: 'bench', node })),
    )
    if (one === undefined || two === undefined) return
    tell('NATS', perBatch, await measure(one, two, batchesOf(links, perBatch)))
    await Promise.all([one.close(), two.close()])
  }
}
