// A cluster on paper: ten million hosts, up to thousands of shares and a thousand nodes, no sockets. How even it is, what moves, what is
// said, what the engine has to bear, and where it breaks first.
//
//   npm run simulate -- [--hosts 10000000] [--events 300] [--json FILE]
//
// Who has what is computed by the very functions that a cluster uses (src/placement). What things cost is taken from
// measurements, each named in bench/simulator/costs.ts; nothing here measures time. One seed: the same figures every time.

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { addressSpread, nodeSizes, shareSizes, spread } from './simulator/balance.ts'
import * as cost from './simulator/costs.ts'
import { type Load, load } from './simulator/load.ts'
import { movement } from './simulator/movement.ts'
import { modelWeb } from './simulator/web.ts'

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '10000000' },
    events: { type: 'string', default: '300' },
    json: { type: 'string' },
  },
})
const hosts = Number(values.hosts)
const SHARES = [16, 64, 256, 1_024, 4_096] as const
const KINDS = ['rendezvous', 'ring'] as const
/** Nodes, and shares on each at least: a share is an agent, an agent a thread. */
const CLUSTERS = [
  [1, 16],
  [3, 16],
  [4, 16],
  [8, 64],
  [16, 128],
  [32, 256],
  [64, 512],
  [128, 1_024],
  [256, 2_048],
  [512, 4_096],
] as const
/** Pages a second of a share: bound by politeness, and half of a processor. */
const RATES = [50, 500] as const
const PAGES_PER_HOST = 100
const PAGES_MOST = 1_000_000
/** An engine of three servers, each with eight processors of which half may be used. */
const SERVER_CORES = 4

const round = (figure: number, digits = 3): number => Number(figure.toPrecision(digits))
const per100 = (part: number): string => `${(part * 100).toFixed(1)} %`
const columns = (cells: readonly (string | number)[]): void =>
  console.log(cells.map((cell) => String(cell).padStart(12)).join(''))

const web = modelWeb({
  hosts,
  pagesPerHost: PAGES_PER_HOST,
  pagesMost: PAGES_MOST,
  hostsPerAddress: 5,
  seed: 'simulate',
})
const largest = web.pagesOf[0] as number
console.log(
  `${web.hosts} hosts on ${web.addresses} addresses, ${web.pages} pages; the largest host has ${largest}, the middle one ${web.pagesOf[web.hosts >> 1]}`,
)

console.log('\nbalance of shares: standard deviation and the largest, against the mean')
columns(['shares', 'by', 'slots', '', 'hosts', '', 'pages', ''])
const sizesBy = new Map<string, Float64Array>()
const balance = SHARES.flatMap((shares) =>
  KINDS.map((kind) => {
    const sizes = shareSizes(web, shares, kind)
    sizesBy.set(`${kind} ${shares}`, sizes.pages)
    const [slots, ofHosts, pages] = [spread(sizes.slots), spread(sizes.hosts), spread(sizes.pages)]
    columns([
      shares,
      kind,
      ...[slots, ofHosts, pages].flatMap((one) => [per100(one.deviation), `${one.largest.toFixed(2)} ×`]),
    ])
    return { shares, kind, slots, hosts: ofHosts, pages }
  }),
)
const pagesBy = (shares: number): Float64Array =>
  sizesBy.get(`rendezvous ${shares}`) ?? shareSizes(web, shares, 'rendezvous').pages

console.log('\nbalance of nodes (rendezvous): pages of the fullest against the mean')
columns(['nodes', 'shares', 'pages', 'largest'])
const nodeBalance = [...CLUSTERS.filter(([nodes]) => nodes > 1), [100, 1_024] as const].map(([nodes, shares]) => {
  const pages = spread(nodeSizes(pagesBy(shares), nodes, 'rendezvous'))
  columns([nodes, shares, per100(pages.deviation), `${pages.largest.toFixed(2)} ×`])
  return { nodes, shares, ...pages }
})

console.log('\naddresses: hosts and pages whose address has hosts on several shares')
const addresses = SHARES.map((shares) => {
  const found = addressSpread(web, shares)
  console.log(
    `${shares} shares: ${per100(found.abroadHosts)} of hosts, ${per100(found.abroadPages)} of pages; the largest address has ${found.hostsOfLargest} hosts`,
  )
  return { shares, ...found }
})

console.log(`\nmovement, ${values.events} events each: joins, leaves, crashes, drains, resumes, changes of weight`)
columns(['nodes', 'shares', 'by', 'moved', 'needed', 'others most', 'of pages', 'two apart', 'fullest'])
const movements = KINDS.flatMap((kind) =>
  (
    [
      [3, 16],
      [4, 16],
      [8, 64],
      [32, 256],
      [128, 1_024],
    ] as const
  ).map(([nodes, shares]) => {
    const events = Math.min(Number(values.events), Math.ceil(3_000_000 / (nodes * shares)))
    const found = movement(pagesBy(shares), nodes, events, kind)
    columns([
      nodes,
      shares,
      kind,
      found.moved.toFixed(1),
      found.needed.toFixed(1),
      found.othersMost,
      per100(found.pagesMoved),
      found.twoViewsApart.toFixed(1),
      found.fullest.toFixed(2),
    ])
    return { kind, ...found }
  }),
)

console.log(`\nload, ${per100(cost.FOREIGN_SHARE)} of ${cost.LINKS_PER_PAGE} links to other hosts`)
columns([
  'nodes',
  'shares',
  'pages/s',
  'msg/page',
  'msg/s',
  'links/parcel',
  'MB/s',
  'appends/s',
  'log MB/s',
  'snap MB/s',
  'cores',
  'of three',
  'overhead',
])
const loads = RATES.flatMap((rate) =>
  CLUSTERS.map(([nodes, shares]) => {
    const found = load(pagesBy(shares), nodes, rate, cost.FOREIGN_SHARE)
    columns([
      nodes,
      shares,
      found.pagesPerSecond,
      found.messagesPerPage.toFixed(1),
      Math.round(found.messagesPerSecond),
      found.linksPerParcel.toFixed(1),
      (found.messageBytesPerSecond / 1e6).toFixed(1),
      Math.round(found.appendsPerSecond),
      (found.logBytesPerSecond / 1e6).toFixed(1),
      (found.snapshotBytesPerSecond / 1e6).toFixed(1),
      found.serverCores.all.toFixed(2),
      found.threeServersCores.all.toFixed(2),
      per100(found.overhead.all),
    ])
    return found
  }),
)

/** The first cluster of a list that a limit does not let be. */
const LIMITS: Readonly<Record<string, (one: Load) => boolean>> = {
  'CPU per page rises by more than 15 %': ({ overhead }) => overhead.all > cost.OVERHEAD_BAR,
  'messages alone take more than 15 %': ({ overhead }) => overhead.messages > cost.OVERHEAD_BAR,
  [`the engine needs more than ${SERVER_CORES} processors a server`]: ({ threeServersCores }) =>
    threeServersCores.all > 3 * SERVER_CORES,
  'appends alone need more than that': ({ threeServersCores }) => threeServersCores.appends > 3 * SERVER_CORES,
  'beats alone need one processor': ({ threeServersCores }) => threeServersCores.beats > 3,
  'messages, logs and snapshots exceed the wire of a server': (one) =>
    one.messageBytesPerSecond + one.logBytesPerSecond + one.snapshotBytesPerSecond > cost.NODE_BYTES_PER_SECOND,
  'more than 1,024 shares': ({ shares }) => shares > 1_024,
}
console.log('\nwhat breaks first')
const breaks = RATES.flatMap((rate) =>
  Object.entries(LIMITS).map(([what, isBroken]) => {
    const first = loads.find((one) => one.pagesPerSecondOfShare === rate && isBroken(one))
    const where =
      first === undefined
        ? 'not up to the largest'
        : `${first.nodes} nodes, ${first.shares} shares, ${first.pagesPerSecond} pages/s`
    console.log(`${rate} pages/s a share: ${what}: ${where}`)
    return { rate, what, nodes: first?.nodes ?? null, pagesPerSecond: first?.pagesPerSecond ?? null }
  }),
)

console.log('\nlinks to other hosts and their cost, 64 nodes, 512 shares, 50 pages/s a share')
const locality = [0.02, 0.05, 0.15, 0.25, 0.5].map((share) => {
  const found = load(pagesBy(512), 64, 50, share)
  console.log(
    `${per100(share)}: ${found.messagesPerPage.toFixed(1)} messages a page, ${Math.round(found.messageBytesPerSecond / found.pagesPerSecond)} bytes a page, ${found.serverCores.all.toFixed(2)} processors of the engine, ${per100(found.overhead.all)} overhead`,
  )
  return { foreignShare: share, ...found }
})

console.log('\na thousand million pages a day: 8 nodes')
const billion = [64, 128, 256].map((shares) => {
  const found = load(pagesBy(shares), 8, 1e9 / 86_400 / shares, cost.FOREIGN_SHARE)
  console.log(
    `${shares} shares: ${found.messagesPerPage.toFixed(1)} messages a page, ${Math.round(found.messagesPerSecond)} messages/s, ${(found.messageBytesPerSecond / 1e6).toFixed(1)} MB/s between shares, ${Math.round(found.appendsPerSecond)} appends/s of ${Math.round(found.appendBytes)} bytes, ${(found.snapshotBytesPerSecond / 1e6).toFixed(1)} MB/s of snapshots, one of each share in ${Math.round(found.snapshotEverySeconds)} s, ${found.serverCores.all.toFixed(2)} processors of one server, ${found.threeServersCores.all.toFixed(2)} of three, ${per100(found.overhead.all)} overhead`,
  )
  return found
})

const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? round(value, 4) : value
const result = {
  bench: 'cluster-simulator',
  web: { hosts: web.hosts, pages: web.pages, addresses: web.addresses, largestHost: largest },
  costs: Object.fromEntries(Object.entries(cost).filter(([, value]) => typeof value !== 'function')),
  balance,
  nodeBalance,
  addresses,
  movements,
  loads,
  breaks,
  locality,
  billion,
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, rounded, 1)}\n`)
console.log(JSON.stringify(result, rounded))
