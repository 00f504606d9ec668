// What does it cost to have another agent do it: a link that is sent, a content that is asked for, a page that is parsed?
//
//   node bench/exchange.ts
//
// The two agents are two ends of a port; the far one is a thread of its own. A link goes all the way: outbox, crossing, inbox,
// unpacked at the owner, confirmed. Figures are CPU time of the whole process for each piece, the best of some rounds; for
// pages that of the thread that has them, beside parsing them there: only what it saves would be worth sending them away.

import { MessageChannel, type MessagePort, threadId, Worker, workerData } from 'node:worker_threads'
import { Inbox, Outbox, PortWire } from '../src/exchange/index.ts'
import type { FrontierEntry } from '../src/frontier/index.ts'
import { unpackEntries } from '../src/ledger/index.ts'
import { scanHtml } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { type CanonicalUrl, hostKeyOf } from '../src/url/index.ts'
import { corpusPages } from './corpus.ts'
import { measureEngineLinks } from './engine-links.ts'

const ROUNDS = 5
const BATCHES = 200
const LINKS_PER_BATCH = 400
const CLAIMS = 40_000
const CLAIMS_AT_ONCE = 16
const PAGES = 2_000
const PAGES_AT_ONCE = 4
const options = parseOptions.parse({})

interface FarPorts {
  readonly wire: MessagePort
  readonly pages: MessagePort
}

/** The far agent: files parcels and confirms them, knows no content, parses what it is given. */
function serve({ wire: port, pages }: FarPorts): void {
  const wire = new PortWire(port)
  const apply = async (parcel: { readonly entries: string }, entered: () => void): Promise<void> => {
    unpackEntries(parcel.entries)
    entered()
  }
  const inbox = new Inbox({ agents: 2, holds: [], apply })
  wire.listen((message) => {
    if (message.kind === 'claim') wire.send({ kind: 'claimed', id: message.id, original: null })
    else if (message.kind === 'parcel') {
      const { parcel } = message
      void inbox.receive(0, parcel).then(() => wire.send({ kind: 'confirmed', upTo: parcel.number }))
    }
  })
  pages.on('message', (bytes: Uint8Array<ArrayBuffer>) => {
    const { spans, title, metaRobots, canonical, language } = scanHtml(bytes, { charset: 'utf-8' }, options)
    const places = spans.places.slice(0, 3 * spans.count)
    pages.postMessage({ places, bytes, title, metaRobots, canonical, language })
  })
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

function threadUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

async function bestOf(run: () => Promise<number>): Promise<number> {
  let best = Infinity
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, await run())
  return best
}

function linksOf(batch: number): FrontierEntry[] {
  return Array.from({ length: LINKS_PER_BATCH }, (_, i) => {
    const host = `host${(batch * 31 + i) % 5_000}.example`
    const url = `https://${host}/section-${i % 97}/article-${batch}-${i}.html?from=front` as CanonicalUrl
    const via = `https://host${batch}.example/page-${i >> 4}.html` as CanonicalUrl
    return { url, host: hostKeyOf(url), via, depth: 3, hops: 0, band: 2, isSeed: false, tries: 0, pauses: 0 }
  })
}

/** CPU microseconds and bytes of one link. */
async function sendLinks(port: MessagePort): Promise<{ us: number; bytes: number }> {
  const wire = new PortWire(port)
  const batches = Array.from({ length: BATCHES }, (_, batch) => linksOf(batch))
  let number = 0
  let bytes = 0
  const outbox = new Outbox({
    self: 0,
    agents: 2,
    ownerOfEntry: () => 1,
    ownerOfDigest: () => 1,
    bytesMax: 2 ** 24,
  })
  let onEmpty = (): void => {}
  wire.listen((message) => {
    if (message.kind !== 'confirmed') return
    outbox.confirm(1, message.upTo)
    if (outbox.isEmpty) onEmpty()
  })
  const us = await bestOf(async () => {
    const before = cpuUs()
    const empty = new Promise<void>((resolve) => (onEmpty = resolve))
    for (const abroad of batches) {
      outbox.take(++number, { abroad, originals: [] })
      const parcel = outbox.pending(1).at(-1)
      if (parcel !== undefined) wire.send({ kind: 'parcel', parcel })
      bytes = (parcel?.entries.length ?? 0) / LINKS_PER_BATCH
      await outbox.pressure()
    }
    await empty
    return (cpuUs() - before) / (BATCHES * LINKS_PER_BATCH)
  })
  return { us, bytes }
}

/** CPU microseconds of a question and its answer, with so many on their way at once. */
async function askClaims(port: MessagePort): Promise<number> {
  const wire = new PortWire(port)
  let onAnswer = (): void => {}
  wire.listen(() => onAnswer())
  const digest = 'ab'.repeat(32)
  return bestOf(async () => {
    const before = cpuUs()
    await new Promise<void>((resolve) => {
      let asked = 0
      let answered = 0
      const ask = (): void => wire.send({ kind: 'claim', id: ++asked, digest, mayBeHeld: false })
      onAnswer = () => {
        if (++answered === CLAIMS) resolve()
        else if (asked < CLAIMS) ask()
      }
      for (let i = 0; i < CLAIMS_AT_ONCE; i++) ask()
    })
    return (cpuUs() - before) / CLAIMS
  })
}

/** Microseconds of this thread for a page that is parsed here, and for one that is parsed there. */
async function parsePages(port: MessagePort): Promise<{ here: number; there: number; bytes: number }> {
  const pages = Array.from(corpusPages(['postgresql-doc-15']), ({ bytes }) => bytes).slice(0, PAGES)
  const here = await bestOf(async () => {
    const before = threadUs()
    for (const page of pages) scanHtml(page, { charset: 'utf-8' }, options)
    return (threadUs() - before) / pages.length
  })
  const there = await bestOf(async () => {
    const before = threadUs()
    await new Promise<void>((resolve) => {
      let sent = 0
      let returned = 0
      const send = (): void => {
        const copy = Uint8Array.from(pages[sent++] as Uint8Array)
        port.postMessage(copy, [copy.buffer])
      }
      port.removeAllListeners('message')
      port.on('message', () => {
        if (++returned === pages.length) resolve()
        else if (sent < pages.length) send()
      })
      for (let i = 0; i < PAGES_AT_ONCE; i++) send()
    })
    return (threadUs() - before) / pages.length
  })
  return { here, there, bytes: pages.reduce((sum, page) => sum + page.length, 0) / pages.length }
}

async function main(): Promise<void> {
  const results: Record<string, number> = {}
  for (const measure of ['links', 'claims', 'pages'] as const) {
    const wire = new MessageChannel()
    const pages = new MessageChannel()
    const far: FarPorts = { wire: wire.port2, pages: pages.port2 }
    const worker = new Worker(new URL(import.meta.url), { workerData: far, transferList: [wire.port2, pages.port2] })
    if (measure === 'links') {
      const { us, bytes } = await sendLinks(wire.port1)
      console.log(`a link sent, filed and confirmed: ${us.toFixed(2)} µs CPU, ${bytes.toFixed(0)} bytes`)
      results['linkMicroseconds'] = us
      results['linkBytes'] = bytes
    } else if (measure === 'claims') {
      const us = await askClaims(wire.port1)
      console.log(`a content asked for, ${CLAIMS_AT_ONCE} at a time: ${us.toFixed(1)} µs CPU, both sides`)
      results['claimMicroseconds'] = us
    } else {
      const { here, there, bytes } = await parsePages(pages.port1)
      console.log(
        `a page of ${bytes.toFixed(0)} bytes parsed here: ${here.toFixed(1)} µs of this thread; elsewhere: ${there.toFixed(1)} µs`,
      )
      results['parseHereMicroseconds'] = here
      results['parseElsewhereMicroseconds'] = there
    }
    await worker.terminate()
    wire.port1.close()
    pages.port1.close()
  }
  await measureEngineLinks((engine, perBatch, { us, bytes }) => {
    console.log(
      `a link sent over the engine (${engine}), ${perBatch} at a time: ${us.toFixed(2)} µs CPU, ${bytes.toFixed(1)} bytes`,
    )
    results[`engineLinkMicroseconds ${engine} ${perBatch}`] = us
    results[`engineLinkBytes ${engine} ${perBatch}`] = bytes
  })
  console.log(JSON.stringify({ bench: 'exchange', ...results }))
}

if (threadId === 0) await main()
else serve(workerData as FarPorts)
