// What is against a cluster that crawled, whatever was done to it: judged by the web's log, and by what all nodes have left.
//
//   pages      all of the truth, on one node each, nothing twice; failures too
//   manners    never two requests at once on a host and never sooner than the delay, whoever had it
//   again      nothing that was committed is asked for again; what is, was in no batch when something happened to whoever had it
//   archive    every file of every node is sound, and has what the pages say
//
// How much may be asked for again after a kill is as in test/crash/judge-lives.ts: for each share the hosts that can be asked at once, and
// what was begun since its last batch was taken. While the engine is away nothing is taken, so the bound is all that was asked since.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FailureRecord, PageRecord } from '../../src/store/index.ts'
import { checkPoliteness, type LoggedRequest } from '../../testweb/index.ts'
import type { CommittedBatch } from '../crash/committed-state.ts'
import { keyOfUrl } from '../crash/judge-lives.ts'
import { type CheckedRecord, checkWarcFile } from '../warc-check.ts'
import type { Disturbance } from './disturbances.ts'
import type { NodeProcess } from './node-process.ts'
import type { RealCluster } from './real-cluster.ts'

export interface DisturbanceCost {
  readonly what: string
  readonly shares: number
  /** URLs that were asked for again because of it. */
  readonly again: number
  /** How many may be. */
  readonly bound: number
}

export interface ClusterVerdict {
  readonly problems: readonly string[]
  readonly pages: number
  readonly failures: number
  readonly requests: number
  /** Answers that were asked for again. */
  readonly again: number
  /** Of them: because a node fenced itself or lost an agent without anything having been done to it. */
  readonly againBySelf: number
  readonly costs: readonly DisturbanceCost[]
  readonly warcFiles: number
  /** WARC files that still bear `.open`: their writer was killed and never wrote on. */
  readonly warcOpen: number
}

/** Answers that are no verdict (yet). */
const NOT_FINAL: ReadonlySet<number> = new Set([0, 429, 502, 503])
/** What a node says when it dropped by itself what it had under way. */
const SELF = /lease of this node is over|was begun by another node|was started again|^Share \d+: /
/** A batch is taken within this of an answer, or its node is in trouble. */
const SELF_MS = 30_000
const SHOWN_MAX = 20

/** `delayMs` is the least that held: another than the plan's where it was changed on the way. */
export async function judgeCluster(
  cluster: RealCluster,
  { delayMs = cluster.plan.delayMs }: { readonly delayMs?: number } = {},
): Promise<ClusterVerdict> {
  const problems: string[] = []
  const nodes = [...cluster.nodes.values()]
  await cluster.disturbances.learnHosts(nodes)
  const { pages, failures } = judgeVerdicts(cluster, nodes, problems)
  const requests = [...cluster.web.log.requests()]
  for (const request of requests) {
    if (!Number.isFinite(request.endMs)) problems.push(`a request of ${request.host} was never ended`)
  }
  const impolite = checkPoliteness(requests, { delayMs })
  if (impolite.length > 0) problems.push(`${impolite.length} times a host was asked too soon`)
  for (const { message } of impolite.slice(0, SHOWN_MAX)) problems.push(message)
  const again = judgeAgain(cluster, requests, nodes, problems)
  const archive = judgeArchives(nodes, pages, problems)
  return { problems, pages: pages.length, failures: failures.length, requests: requests.length, ...again, ...archive }
}

/** All nodes together have every verdict once. */
function judgeVerdicts(
  { web, seeds }: RealCluster,
  nodes: readonly NodeProcess[],
  problems: string[],
): { pages: readonly PageRecord[]; failures: readonly FailureRecord[] } {
  const pages = nodes.flatMap(({ dir }) => linesOf<PageRecord>(join(dir, 'pages.jsonl')))
  const failures = nodes.flatMap(({ dir }) => linesOf<FailureRecord>(join(dir, 'failures.jsonl')))
  const truth = web.truth({ seeds, scope: 'any' })
  const compare = (what: string, found: readonly string[], expected: ReadonlySet<string>): void => {
    const is = new Set(found)
    const missing = [...expected].filter((one) => !is.has(one))
    const added = [...is].filter((one) => !expected.has(one))
    if (missing.length > 0) problems.push(`${missing.length} ${what} are missing, ${missing[0]} for one`)
    if (added.length > 0) problems.push(`${added.length} ${what} are too many, ${added[0]} for one`)
    if (is.size < found.length) problems.push(`${found.length - is.size} ${what} are there twice`)
  }
  compare(
    'pages',
    pages.map(({ url, status }) => `${url} ${status}`),
    new Set([...truth.pages].map(([url, { status }]) => `${url} ${status}`)),
  )
  compare(
    'failures',
    failures.map(({ url, reason }) => `${url} ${reason}`),
    new Set([...truth.skipped, ...truth.failed].map(([url, reason]) => `${url} ${reason}`)),
  )
  return { pages, failures }
}

function judgeAgain(
  { disturbances, web, plan }: RealCluster,
  requests: readonly LoggedRequest[],
  nodes: readonly NodeProcess[],
  problems: string[],
): Pick<ClusterVerdict, 'again' | 'againBySelf' | 'costs'> {
  const { all, settled, shareOf } = disturbances
  const costs = all.map(() => 0)
  const troubles = nodes.flatMap(({ said }) => said.filter(({ line }) => SELF.test(line)).map(({ atMs }) => atMs))
  /** By URL: the last request for it that was answered for good. */
  const answered = new Map<string, LoggedRequest>()
  const unexplained: string[] = []
  const broken: string[] = []
  let again = 0
  let againBySelf = 0
  for (const request of requests) {
    if (request.path === '/robots.txt') continue
    const key = request.host + request.path
    const known = settled.get(key)
    if (known !== undefined && request.startMs > (all[known] as Disturbance).readMs) broken.push(key)
    const earlier = answered.get(key)
    if (!NOT_FINAL.has(request.status)) answered.set(key, request)
    if (earlier === undefined) continue
    again++
    const share = shareOf.get(request.host) ?? -1
    const cause = all.findIndex(
      ({ shares, startMs, endMs }, number) =>
        shares.has(share) &&
        earlier.startMs <= endMs &&
        request.startMs >= startMs &&
        (known === undefined || known > number),
    )
    if (cause !== -1) costs[cause] = (costs[cause] ?? 0) + 1
    else if (troubles.some((atMs) => atMs >= earlier.startMs && atMs - earlier.endMs < SELF_MS)) againBySelf++
    else unexplained.push(`${key} at ${Math.round(earlier.startMs)} and ${Math.round(request.startMs)}`)
  }
  if (broken.length > 0) problems.push(`${broken.length} URLs were asked for after a batch had them: ${broken[0]}`)
  if (unexplained.length > 0) {
    problems.push(`${unexplained.length} URLs were asked for again, and nothing had happened: ${unexplained[0]}`)
  }
  const hosts = plan.web.hosts ?? 8
  const started = new Map(requests.map((request) => [request.host + request.path, request.startMs]))
  const judged = all.map((disturbance, i) => {
    const bound = boundOf(disturbance, requests, shareOf, started, hosts)
    const cost = { what: disturbance.what, shares: disturbance.shares.size, again: costs[i] ?? 0, bound }
    if (cost.again > bound) problems.push(`${cost.what}: ${cost.again} were asked for again, ${bound} may be`)
    return cost
  })
  void web
  return { again, againBySelf, costs: judged }
}

/** What may be asked for again after it. */
function boundOf(
  { shares, endMs }: Disturbance,
  requests: readonly LoggedRequest[],
  shareOf: ReadonlyMap<string, number>,
  started: ReadonlyMap<string, number>,
  atOnce: number,
): number {
  let bound = 0
  for (const [share, batches] of shares) {
    const takenMs = lastTakenMs(batches, started)
    const own = requests.filter(({ host, startMs }) => shareOf.get(host) === share && startMs <= endMs)
    const hosts = Math.min(atOnce, new Set(own.map(({ host }) => host)).size)
    bound += hosts + own.filter(({ startMs }) => startMs >= takenMs).length
  }
  return bound
}

/** No earlier than this the last of these batches was taken; −∞ where nothing says. */
function lastTakenMs(batches: readonly CommittedBatch[], started: ReadonlyMap<string, number>): number {
  const lastAtMs = batches.at(-1)?.atMs ?? 0
  let takenMs = Number.NEGATIVE_INFINITY
  for (const { pages, atMs } of batches) {
    for (const url of pages) takenMs = Math.max(takenMs, (started.get(keyOfUrl(url)) ?? -Infinity) + lastAtMs - atMs)
  }
  return takenMs
}

/** Every page is on some node where it says, and every file is sound. */
function judgeArchives(
  nodes: readonly NodeProcess[],
  pages: readonly PageRecord[],
  problems: string[],
): Pick<ClusterVerdict, 'warcFiles' | 'warcOpen'> {
  const files = new Map<string, ReadonlyMap<number, Pick<CheckedRecord, 'type' | 'length'> & { url: string | null }>>()
  let warcOpen = 0
  for (const { name: node, dir, ends } of nodes) {
    const folder = join(dir, 'archive')
    for (const entry of existsSync(folder) ? readdirSync(folder).toSorted() : []) {
      if (!entry.includes('.warc')) continue
      const isOpen = entry.endsWith('.open')
      const name = `archive/${entry.replace(/\.open$/, '')}`
      if (isOpen) {
        warcOpen++
        if (!ends.some(({ signal }) => signal === 'SIGKILL')) problems.push(`${node}: ${entry} is not finished`)
      }
      if (files.has(name)) problems.push(`${name} is on two nodes`)
      const { records, problems: found } = checkWarcFile(join(folder, entry))
      // The end of a file whose writer was killed may be torn; what counts of it is looked for below.
      if (!isOpen) for (const problem of found.slice(0, 3)) problems.push(`${node}: ${entry}: ${problem}`)
      if (records[0]?.type !== 'warcinfo') problems.push(`${node}: ${entry} does not begin with a warcinfo record`)
      files.set(
        name,
        new Map(
          records.map((record) => [
            record.offset,
            { type: record.type, length: record.length, url: record.field('WARC-Target-URI') },
          ]),
        ),
      )
    }
  }
  let missing = 0
  for (const { url, warc } of pages) {
    if (warc === null) continue
    const record = files.get(warc.file)?.get(warc.offset)
    const isThere = record?.url === url && record.length === warc.length && /^(response|revisit)$/.test(record.type)
    if (!isThere && ++missing <= 3) problems.push(`${url} is not in ${warc.file} at ${warc.offset}+${warc.length}`)
  }
  if (missing > 3) problems.push(`${missing} pages are in no archive`)
  return { warcFiles: files.size, warcOpen }
}

function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T)
}
