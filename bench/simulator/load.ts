// What shares say to each other and to the engine in a second, and what that costs whom.
//
//   page settled ── its foreign links ──▶ one parcel for each share they belong to, each tick ──▶ a confirmation each
//                └─ its content ────────▶ a claim at the digest's owner, at once ──▶ an answer
//   batch ── appended to the log of the share, each tick;   node ── beats, heard by all nodes

import { Random } from '../../src/base/index.ts'
import * as cost from './costs.ts'

export interface ServerCores {
  readonly messages: number
  readonly appends: number
  readonly beats: number
  readonly all: number
}

export interface Load {
  readonly nodes: number
  readonly shares: number
  readonly pagesPerSecondOfShare: number
  readonly pagesPerSecond: number
  readonly parcelsPerSecond: number
  readonly linksPerParcel: number
  readonly parcelBytes: number
  readonly messagesPerPage: number
  readonly messagesPerSecond: number
  /** Between shares, all of it through the engine. */
  readonly messageBytesPerSecond: number
  readonly appendsPerSecond: number
  readonly appendBytes: number
  readonly logBytesPerSecond: number
  readonly snapshotBytesPerSecond: number
  readonly snapshotEverySeconds: number
  readonly beatsHeardPerSecond: number
  /** Processors of the engine: one server with one copy of everything, by kind of work and together. */
  readonly serverCores: ServerCores
  /** The same of three servers with three copies, all three together. */
  readonly threeServersCores: ServerCores
  /** What a page costs more than on one machine with one agent, in parts of what it costs there. */
  readonly overhead: {
    readonly links: number
    readonly messages: number
    readonly appends: number
    readonly all: number
  }
}

const TICKS = 10
const SENDERS = 40

/** `pages` of each share, which is also how often links lead to it. */
export function load(pages: Float64Array, nodes: number, pagesPerSecondOfShare: number, foreignShare: number): Load {
  const shares = pages.length
  const { parcels, links } = parcelsOfTick(pages, pagesPerSecondOfShare, foreignShare)
  const pagesPerSecond = pagesPerSecondOfShare * shares
  const parcelsPerSecond = parcels * shares * cost.TICKS_PER_SECOND
  const linksPerParcel = parcels === 0 ? 0 : links / parcels
  // The note of a first page of a content travels with the links, to the owner of its digest: one more thing to carry for each page.
  const originalBytes = (cost.LOG_BYTES_BY_FILE['originals.jsonl'] * pagesPerSecond) / Math.max(1, parcelsPerSecond)
  const parcelBytes = cost.PARCEL_HEAD_BYTES + linksPerParcel * cost.LINK_BYTES + originalBytes
  const claimsPerSecond = shares === 1 ? 0 : 2 * pagesPerSecond * (1 - 1 / shares)
  const messages = [
    [parcelsPerSecond, parcelBytes],
    [parcelsPerSecond, cost.CONFIRMATION_BYTES],
    [claimsPerSecond, cost.CLAIM_BYTES],
  ] as const
  const sum = (of: (perSecond: number, bytes: number) => number): number =>
    messages.reduce((total, [perSecond, bytes]) => total + of(perSecond, bytes), 0)
  const messagesPerSecond = sum((perSecond) => perSecond)

  // A tick without a page has no batch.
  const busy = 1 - Math.exp(-pagesPerSecondOfShare / cost.TICKS_PER_SECOND)
  const appendsPerSecond = shares * cost.TICKS_PER_SECOND * busy
  const logBytesPerSecond = pagesPerSecond * cost.LOG_BYTES * cost.LOG_ZSTD
  const appendBytes = logBytesPerSecond / appendsPerSecond
  const stateBytesPerPage = cost.NEW_URLS_PER_PAGE * (cost.SEEN_BYTES + cost.WAITING_BYTES) + cost.CONTENT_BYTES
  const snapshotBytesPerSecond =
    pagesPerSecond * (stateBytesPerPage * cost.SNAPSHOT_REWRITES + cost.LOG_BYTES * cost.LOG_ZSTD)
  const beatsHeardPerSecond = nodes * nodes * cost.BEATS_PER_SECOND

  const server = {
    messages: sum((perSecond, bytes) => perSecond * cost.messageServerUs(bytes)) / 1e6,
    appends: (appendsPerSecond * cost.appendServerUs(appendBytes)) / 1e6,
    beats: (beatsHeardPerSecond * cost.messageServerUs(cost.BEAT_BYTES)) / 1e6,
  }
  const three = {
    messages: server.messages * cost.THREE_SERVERS_MESSAGE,
    appends: (appendsPerSecond * cost.appendThreeServersUs(appendBytes)) / 1e6,
    beats: server.beats * cost.THREE_SERVERS_MESSAGE,
  }
  const perPage = (usPerSecond: number): number => usPerSecond / pagesPerSecond / cost.PAGE_US
  const overhead = {
    links: (links / (pagesPerSecondOfShare / cost.TICKS_PER_SECOND)) * (cost.LINK_US / cost.PAGE_US),
    messages: perPage(sum((perSecond, bytes) => perSecond * cost.messageClientUs(bytes))),
    appends: perPage(appendsPerSecond * cost.appendClientUs(appendBytes)),
  }
  return {
    nodes,
    shares,
    pagesPerSecondOfShare,
    pagesPerSecond,
    parcelsPerSecond,
    linksPerParcel,
    parcelBytes,
    messagesPerPage: messagesPerSecond / pagesPerSecond,
    messagesPerSecond,
    messageBytesPerSecond: sum((perSecond, bytes) => perSecond * bytes),
    appendsPerSecond,
    appendBytes,
    logBytesPerSecond,
    snapshotBytesPerSecond,
    snapshotEverySeconds: cost.SNAPSHOT_LOG_BYTES / (logBytesPerSecond / shares),
    beatsHeardPerSecond,
    serverCores: { ...server, all: server.messages + server.appends + server.beats },
    threeServersCores: { ...three, all: three.messages + three.appends + three.beats },
    overhead: { ...overhead, all: overhead.links + overhead.messages + overhead.appends },
  }
}

/** Parcels that one share makes in a tick, and the links in them: drawn, because shares are not met equally often. */
function parcelsOfTick(
  pages: Float64Array,
  pagesPerSecond: number,
  foreignShare: number,
): { parcels: number; links: number } {
  const shares = pages.length
  if (shares === 1) return { parcels: 0, links: 0 }
  const random = new Random(`parcels ${shares}`)
  const upTo = new Float64Array(shares)
  let sum = 0
  for (let share = 0; share < shares; share++) upTo[share] = sum += pages[share] as number
  let parcels = 0
  let links = 0
  const senders = Math.min(SENDERS, shares)
  const pagesInTick = pagesPerSecond / cost.TICKS_PER_SECOND
  const met = new Int32Array(shares).fill(-1)
  let tickNumber = 0
  for (let i = 0; i < senders; i++) {
    const self = Math.floor((i * shares) / senders)
    for (let tick = 0; tick < TICKS; tick++, tickNumber++) {
      // Each page also sends the note of its content to the owner of its digest.
      const pagesNow = poisson(pagesInTick, random)
      const linksNow = poisson(pagesNow * cost.LINKS_PER_PAGE * foreignShare, random)
      for (let n = 0; n < linksNow + pagesNow; n++) {
        const isLink = n < linksNow
        const to = isLink ? shareAt(upTo, random.fraction() * sum) : random.below(shares)
        if (to === self) continue
        if (isLink) links++
        if (met[to] === tickNumber) continue
        met[to] = tickNumber
        parcels++
      }
    }
  }
  return { parcels: parcels / (senders * TICKS), links: links / (senders * TICKS) }
}

function shareAt(upTo: Float64Array, at: number): number {
  let low = 0
  let high = upTo.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((upTo[middle] as number) > at) high = middle
    else low = middle + 1
  }
  return low
}

/** Beyond thirty the normal curve is near enough. */
function poisson(mean: number, random: Random): number {
  if (mean > 30) {
    const normal = Math.sqrt(-2 * Math.log(1 - random.fraction())) * Math.cos(2 * Math.PI * random.fraction())
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal))
  }
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random.fraction(); product > limit; product *= random.fraction()) count++
  return count
}
