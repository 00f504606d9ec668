// A crawl as a person runs it: progress while it lasts, signals that stop it, and what is left at the end.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { Fault, formatDuration, parseFaultPlan, type StopReason, STOPS, systemClock } from '../base/index.ts'
import type { CrawlConfig, Problem } from '../config/index.ts'
import { writeAtomically } from '../disk/index.ts'
import {
  type ArchiveFigures,
  type ClusterPlace,
  type CrawlSummary,
  formatNumberOf,
  isShippedWhole,
  loadOutputs,
  NO_ARCHIVE_FIGURES,
  printable,
  renderSummary,
  type RunFigures,
  Timeline,
  type TimelineSample,
  writeReport,
} from '../report/index.ts'
import { CrawlNode, type NodeEvent, USUAL_CARE } from '../supervise/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { CheckpointDesk } from './checkpoint-requests.ts'
import { EXIT } from './command.ts'
import { describeLostNode } from './describe-lost-node.ts'
import { isGuarded, lifeUnderGuard, sayEnded } from './guard.ts'
import { boundHeap } from './heap-bound.ts'
import { Progress, type Snapshot } from './progress.ts'
import { ArchiveShipment } from './ship-archive.ts'
import { describeSaid, mergeSaid, type Said, storeSettings } from './stored-settings.ts'
import { VERSION } from './version.ts'

export const PROGRESS_MODES = ['auto', 'plain', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]

/** A crawl as it is run here: on this machine alone, or as a node of a cluster. */
export type CrawlJob = Pick<
  CrawlNode,
  | 'identity'
  | 'isNew'
  | 'isScopeChanged'
  | 'seeds'
  | 'isKnownSeed'
  | 'agents'
  | 'restarts'
  | 'fault'
  | 'figures'
  | 'snapshot'
  | 'run'
  | 'stop'
  | 'checkpoint'
  | 'close'
>

export interface CrawlRequest {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  readonly config: CrawlConfig
  /** What was said on the command line, in the environment and in the file; and what earlier runs were told. */
  readonly said: Said
  readonly stored: Said
  readonly progress: ProgressMode
  readonly isJson: boolean
  /** Lines of seed files that were left out. */
  readonly warnings: readonly Problem[]
  /** As a node of a cluster: how it is opened, and what is said then. */
  readonly cluster?: {
    readonly place: ClusterPlace
    readonly open: (onEvent: (event: NodeEvent) => void) => Promise<CrawlJob>
    readonly greeting: string
  }
}

const WITHHELD = '[withheld]'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Seeds named when a crawl yields nothing; more would hide the message. */
const SEEDS_EXPLAINED_MAX = 5

export async function runCrawl(request: CrawlRequest): Promise<number> {
  const say = (text: string): void => void process.stderr.write(text)
  for (const { where, what } of request.warnings) say(`left out: ${printable(where)}: ${printable(what)}\n`)
  const interruption = new Interruption()
  const unbind = boundHeap(request.config.agent.memory)
  let isResultTold = false
  const tellResult = (summary: CrawlSummary): void => {
    if (request.isJson && !isResultTold) process.stdout.write(`${JSON.stringify(summary)}\n`)
    isResultTold = true
  }
  // A process with such a thread ends in no other way than by force. What the other agents did is committed; under guard
  // the next process goes on, and the result is for that one to tell.
  let hasStuckThread = false
  const sayEnd = async (): Promise<void> => {
    if (hasStuckThread && isGuarded()) process.kill(process.pid, 'SIGKILL')
    await sayEnded()
  }
  try {
    const job = await openCrawl(request, (event) => {
      if (event.kind === 'agent-stuck') hasStuckThread = true
      interruption.tell(describeEvent(event))
    })
    interruption.attach(job)
    return await crawlAndTell(job, request, interruption, say, sayEnd, tellResult)
  } catch (fault) {
    await sayEnd()
    // Also a crawl that could not be opened, or whose result could not be written, owes its one JSON object.
    tellResult(faultSummary(request, fault))
    throw fault
  } finally {
    unbind()
    interruption.end()
    if (hasStuckThread) process.kill(process.pid, 'SIGKILL')
  }
}

async function crawlAndTell(
  job: CrawlJob,
  request: CrawlRequest,
  interruption: Interruption,
  say: (text: string) => void,
  sayEnd: () => Promise<void>,
  tellResult: (summary: CrawlSummary) => void,
): Promise<number> {
  const { dir, isJson } = request
  const before = { pages: job.figures.pages, failed: job.figures.failed, bytes: job.figures.bytes }
  const { stoppedBecause, fault, shipment } = await watch(job, request, interruption, say)
  // It took no part: there is nothing to tell but why.
  if (fault instanceof Fault && fault.code === 'CLUSTER_REFUSED') throw fault
  const summary = summaryOf(job, request, before, stoppedBecause, await shipment.figures())
  // A full disk has no room for a report; everything for one is there when the crawl goes on.
  // And a node that had no share in the end has nothing to say of the crawl: what stands there stays.
  const isEmpty = request.cluster !== undefined && job.agents === 0
  const hasReport = stoppedBecause !== 'disk-full' && !isEmpty
  if (hasReport) {
    await writeAtomically(join(dir, 'crawl.json'), `${JSON.stringify(summary, null, 2)}\n`)
    await writeReport(dir)
  }
  await sayEnd()
  if (fault !== null)
    say(
      `portolan ${request.cluster === undefined ? 'crawl' : 'node'}: ${fault instanceof Error ? fault.message : 'stopped by something that is no error'}\n`,
    )
  tellResult(summary)
  if (isEmpty && fault === null) say(`This node had no share when it ended (${STOPS[stoppedBecause]}).\n`)
  else if (request.progress !== 'none' || !isJson) {
    const terminal = { colour: process.stderr.isTTY, width: process.stderr.columns ?? 80 }
    const style = hasReport ? { ...terminal, ...(await loadOutputs(dir)) } : { ...terminal, hasReport }
    say(`\n${renderSummary(summary, style)}`)
  }
  // A node of a cluster may have had nothing in the end, and the crawl all the same.
  const isAlone = request.cluster === undefined
  if (summary.pages === 0 && stoppedBecause === 'finished' && isAlone) await explainNothing(dir, job.seeds, say)
  if (fault !== null && !(fault instanceof Fault)) throw fault
  return exitCodeOf(summary, isAlone)
}

function openCrawl(
  { dir, seeds, config, cluster }: CrawlRequest,
  onEvent: (event: NodeEvent) => void,
): Promise<CrawlJob> {
  if (cluster !== undefined) return cluster.open(onEvent)
  const asked = process.env['PORTOLAN_FAULTS'] ?? ''
  // Another process draws other faults, or it would die of the same for ever.
  const faults = asked === '' ? null : parseFaultPlan(`seed:${lifeUnderGuard()},${asked}`)
  return CrawlNode.open({
    dir,
    seeds,
    settings: config,
    clock: systemClock,
    newIdentity: () => ({
      name: seeds[0] === undefined ? 'crawl' : hostKeyOf(seeds[0]).replaceAll(/[^a-z0-9.-]/g, ''),
      key: randomBytes(8).toString('hex'),
      startedAtMs: systemClock.wallMs(),
    }),
    software: `Portolan/${VERSION}`,
    environment: { ...process.env },
    agentsUsual: availableParallelism(),
    onEvent,
    faults,
    // What breaks on purpose is no loop.
    care: faults === null ? USUAL_CARE : { ...USUAL_CARE, restartsMax: Infinity },
  })
}

/** Runs the job to its end with progress and signals; whatever happens, everything is closed. */
async function watch(
  job: CrawlJob,
  { dir, config, seeds, said, stored, progress: mode, cluster }: CrawlRequest,
  interruption: Interruption,
  say: (text: string) => void,
): Promise<{ stoppedBecause: StopReason; fault: unknown; shipment: ArchiveShipment }> {
  const progress = new Progress(process.stderr, mode)
  const isShown = mode !== 'none'
  if (isShown) say(cluster?.greeting ?? greeting(job, dir, seeds, stored))
  await storeSettings(dir, mergeSaid(stored, said))

  const timeline = await Timeline.open(join(dir, 'state/timeline.jsonl'))
  let timelineFault: unknown = null
  const noteTimelineFault = (fault: unknown): void => {
    timelineFault ??= fault
  }
  const tick = (): void => {
    if (isShown) progress.update(snapshotOf(job, config))
    timeline.append(sampleOf(job))
  }
  const timer = setInterval(tick, progress.intervalMs)
  const desk = new CheckpointDesk(
    dir,
    (to) => job.checkpoint(to),
    (cause) =>
      progress.say(`A checkpoint could not be made: ${cause instanceof Error ? cause.message : String(cause)}`),
  )
  interruption.sayWith((line) => progress.say(line))
  const shipment = new ArchiveShipment(dir, config, cluster?.place.node ?? null, (line) => interruption.tell(line))
  // A node that leaves is not there for a next run: what it has goes first, unless it is asked twice.
  interruption.alsoStop(() => shipment.stop(), cluster === undefined ? 1 : 2)
  let stoppedBecause: StopReason
  let fault: unknown = null
  try {
    await desk.begin()
    await shipment.begin(job.identity)
    stoppedBecause = await job.run()
    fault = job.fault
  } finally {
    clearInterval(timer)
    await desk.end()
    progress.clear()
    await timeline.close(sampleOf(job)).catch(noteTimelineFault)
    await job
      .close(() => shipment.finish())
      .catch((closing: unknown) => {
        fault ??= closing
      })
    await shipment.stop()
  }
  fault ??= timelineFault
  if (fault instanceof Fault && fault.code === 'DISK_FULL') return { stoppedBecause: 'disk-full', fault, shipment }
  return { stoppedBecause: fault === null ? stoppedBecause : 'error', fault, shipment }
}

function greeting(job: CrawlJob, dir: string, seeds: readonly string[], stored: Said): string {
  const more = seeds.length > 1 ? ` and ${seeds.length - 1} more` : ''
  const agents = job.agents === 1 ? '' : ` with ${job.agents} agents`
  if (job.isNew) return `Crawling ${printable(seeds[0] ?? '')}${more} into ${dir}${agents}. Ctrl-C stops cleanly.\n`
  const settings = describeSaid(stored)
  const added = seeds.filter((seed) => !job.isKnownSeed(seed)).length
  return (
    `Going on${agents} in ${dir}, which has ${formatNumberOf(job.figures.pages, 'page')}.` +
    (settings === '' ? '' : ` Its settings hold where nothing else is said: ${printable(settings)}.`) +
    (added === 0 ? '' : ` ${formatNumberOf(added, 'new seed')}.`) +
    (job.isScopeChanged
      ? ' The scope has changed: what waits outside of it is skipped; links that were refused before stay so.'
      : '') +
    '\n'
  )
}

/**
 * The first signal stops cleanly, the second cuts what is under way; the third is left to the system.
 * It listens from the start: a crawl that is still being opened stops as soon as it can.
 */
class Interruption {
  #job: CrawlJob | null = null
  #count = 0
  #stopToo: () => Promise<void> = async () => {}
  #stopsTooAt = 1
  #say: (line: string) => void = (line) => void process.stderr.write(`${line}\n`)
  readonly #onSignal = (): void => {
    this.#count++
    this.#say(
      this.#count === 1
        ? 'Stopping: waiting for what is under way. Once more cuts it.'
        : 'Cutting what is under way. The same command goes on later.',
    )
    this.#job?.stop('interrupted')
    if (this.#count >= this.#stopsTooAt) void this.#stopToo()
    if (this.#count === 2) this.end()
  }

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal)
  }

  attach(job: CrawlJob): void {
    this.#job = job
    if (this.#count > 0) job.stop('interrupted')
  }

  /** With the first signal, or the second. */
  alsoStop(stop: () => Promise<void>, signals: 1 | 2): void {
    this.#stopToo = stop
    this.#stopsTooAt = signals
    if (this.#count >= signals) void stop()
  }

  sayWith(say: (line: string) => void): void {
    this.#say = say
  }

  tell(line: string): void {
    this.#say(line)
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
  }
}

function brokenAgent({ agent, why }: { readonly agent: number; readonly why: string }): string {
  return `Agent ${agent} broke (${printable(why)})`
}

function describeEvent(event: NodeEvent): string {
  switch (event.kind) {
    case 'view':
      return `View ${event.number}: ${event.nodes.length === 0 ? 'nobody' : event.nodes.join(', ')} (${printable(event.because)}).`
    case 'share-taken':
      return `Share ${event.share} is here${event.from === null ? '' : `, taken over from ${event.from}`}.`
    case 'turns-lent':
      return describeTurns(event)
    case 'share-released':
      return `Share ${event.share} is given up.`
    case 'share-lost':
      return `Share ${event.share} was begun by another node, which took this one for dead.`
    case 'share-failed':
      return `Share ${event.share}: ${printable(event.why)}.`
    case 'node-silent':
      return 'The engine does not answer and the lease of this node is over: nobody is asked for anything until it does.'
    case 'node-resumed':
      return 'The lease of this node runs.'
    case 'node-reborn':
      return `This node was taken for dead; it takes part again as incarnation ${event.incarnation}.`
    case 'lost-settled':
      return describeLostNode(event.node, event, true)
    case 'visit-broken':
      return `A visit to ${printable(event.url)} broke (${printable(event.why)}). This is a fault of Portolan's; please report it. The crawl goes on; such URLs fail as VISIT_BROKEN after some tries.`
    case 'sharing': {
      const { urls, agents, agentsBefore } = event
      return `Sharing ${formatNumberOf(urls, 'URL')} among ${formatNumberOf(agents, 'agent')} instead of ${agentsBefore}…`
    }
    case 'fewer-connections':
      return event.what
    case 'agent-warning':
      return `Agent ${event.agent}: ${printable(event.what)}.`
    case 'agent-restarted':
      return `${brokenAgent(event)} and was started again from its last commit, after ${formatDuration(Math.round(event.ms))}.`
    case 'agent-left':
      return `${brokenAgent(event)} while the crawl was stopping; what it had committed is kept.`
    case 'agent-stuck':
      return `${brokenAgent(event)} and cannot be ended: a call into the system holds it. The process ends; the same command goes on.`
  }
}

function describeTurns({ share, lent, lost, brought, asked }: Extract<NodeEvent, { kind: 'turns-lent' }>): string {
  const given = `in ${formatNumberOf(lent, 'turn')} that were lent, ${lost} of which did not come back`
  return `Of giant hosts of share ${share} others asked ${formatNumberOf(brought, 'URL')} ${given}; it asked ${formatNumberOf(asked, 'URL')} of theirs.`
}

function peakRssBytes(): number {
  return process.resourceUsage().maxRSS * 1_024
}

/** The JSON object of a crawl that could not be: the same fields, nothing counted, and why. */
export function faultSummary(
  { dir, seeds, config }: CrawlRequest,
  fault: unknown,
): CrawlSummary & { readonly error: unknown } {
  const now = new Date(systemClock.wallMs()).toISOString()
  const nothing = {
    pages: 0,
    failed: 0,
    bytes: 0,
    seconds: 0,
    peakRssBytes: peakRssBytes(),
    cpuSeconds: 0,
    restarts: 0,
  }
  const { restarts: _, ...counts } = nothing
  return {
    ...counts,
    agents: config.agent.agents ?? 1,
    archive: NO_ARCHIVE_FIGURES,
    skipped: {},
    refused: {},
    failures: {},
    answers: { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 },
    hosts: 0,
    urlsSeen: 0,
    waiting: 0,
    dir,
    stoppedBecause: fault instanceof Fault && fault.code === 'DISK_FULL' ? 'disk-full' : 'error',
    nextAskAt: null,
    run: nothing,
    seeds,
    startedAt: now,
    finishedAt: now,
    options: shareable(config),
    error: fault instanceof Fault ? { code: fault.code, message: fault.message } : { message: String(fault) },
  }
}

function skippedTotal(job: CrawlJob): number {
  return Object.values(job.figures.skipped).reduce((sum, count) => sum + count, 0)
}

function snapshotOf(job: CrawlJob, config: CrawlConfig): Snapshot {
  const { frontier, active, totalMs, waitMs, isStopping } = job.snapshot()
  const { maxPages, maxTime } = config.agent
  const waits =
    waitMs !== null && waitMs > 2_000 ? `everybody rests for ${formatDuration(Math.round(waitMs / 1_000) * 1_000)}` : ''
  return {
    atMs: systemClock.nowMs(),
    pages: job.figures.pages,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    bytes: job.figures.bytes,
    waiting: job.figures.waiting,
    hosts: frontier.hosts,
    active,
    resting: frontier.resting,
    maxPages,
    leftMs: maxTime === null ? null : maxTime - totalMs,
    note: isStopping ? 'stopping' : waits,
  }
}

function sampleOf(job: CrawlJob): TimelineSample {
  const { active, totalMs, cpuMs, frontier } = job.snapshot()
  return {
    t: Math.round(totalMs / 100) / 10,
    pages: job.figures.pages,
    bytes: job.figures.bytes,
    failed: job.figures.failed,
    skipped: skippedTotal(job),
    waiting: job.figures.waiting,
    hosts: frontier.hosts,
    active,
    rssBytes: process.memoryUsage.rss(),
    cpuSeconds: Math.round(job.figures.earlierCpuMs + cpuMs) / 1_000,
  }
}

function summaryOf(
  job: CrawlJob,
  { dir, config, cluster }: CrawlRequest,
  before: Pick<RunFigures, 'pages' | 'failed' | 'bytes'>,
  stoppedBecause: StopReason,
  archive: ArchiveFigures,
): CrawlSummary {
  const { figures } = job
  const { totalMs, runMs, cpuMs, frontier, waitMs } = job.snapshot()
  const place = cluster === undefined ? {} : { cluster: cluster.place }
  return {
    ...place,
    pages: figures.pages,
    failed: figures.failed,
    skipped: figures.skipped,
    refused: figures.refused,
    failures: figures.failures,
    answers: figures.answers,
    bytes: figures.bytes,
    seconds: Math.round(totalMs) / 1_000,
    hosts: frontier.hosts,
    urlsSeen: figures.admitted,
    waiting: figures.waiting,
    peakRssBytes: Math.max(figures.earlierPeakRssBytes, peakRssBytes()),
    cpuSeconds: Math.round(figures.earlierCpuMs + cpuMs) / 1_000,
    agents: job.agents,
    archive,
    dir,
    stoppedBecause,
    nextAskAt:
      stoppedBecause === 'only-resting' && waitMs !== null
        ? new Date(systemClock.wallMs() + waitMs).toISOString()
        : null,
    run: {
      pages: figures.pages - before.pages,
      failed: figures.failed - before.failed,
      bytes: figures.bytes - before.bytes,
      seconds: Math.round(runMs) / 1_000,
      peakRssBytes: peakRssBytes(),
      cpuSeconds: Math.round(cpuMs) / 1_000,
      restarts: job.restarts,
    },
    seeds: job.seeds,
    startedAt: new Date(job.identity.startedAtMs).toISOString(),
    finishedAt: new Date(systemClock.wallMs()).toISOString(),
    options: shareable(config),
  }
}

/** The configuration as plain data, without what must not be shared: crawl.json is meant to be passed on. */
function shareable(config: CrawlConfig): Record<string, unknown> {
  const { logins, headers, proxy } = config.fetch
  const open = {
    ...config,
    fetch: {
      ...config.fetch,
      logins: logins.map(({ host, user }) => ({ host, user, password: WITHHELD })),
      headers: Object.fromEntries(Object.keys(headers).map((name) => [name, WITHHELD])),
      proxy: proxy.replace(/\/\/[^@/]*@/, `//${WITHHELD}@`),
    },
  }
  const plain = JSON.stringify(open, (_, value: unknown) => (value instanceof RegExp ? value.source : value))
  return JSON.parse(plain) as Record<string, unknown>
}

/** Nothing came of the crawl: says why, seed by seed. */
async function explainNothing(dir: string, seeds: readonly string[], say: (text: string) => void): Promise<void> {
  const wanted = new Set(seeds.slice(0, SEEDS_EXPLAINED_MAX))
  const lines: string[] = []
  for await (const record of readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))) {
    if (wanted.delete(record.url)) {
      lines.push(`  ${printable(record.url)}: ${record.reason}, ${printable(record.detail)}\n`)
    }
    if (wanted.size === 0) break
  }
  say(lines.join(''))
}

function exitCodeOf({ stoppedBecause, pages, archive }: CrawlSummary, isAlone: boolean): number {
  switch (stoppedBecause) {
    case 'interrupted':
      return EXIT.interrupted.code
    case 'disk-full':
      return EXIT.diskFull.code
    case 'error':
      return EXIT.failed.code
    case 'finished':
      if (pages === 0 && isAlone) return EXIT.noPage.code
      return isShippedWhole(archive) ? EXIT.ok.code : EXIT.unshipped.code
    default:
      // A limit was reached; more may come when it goes on.
      return isShippedWhole(archive) ? EXIT.ok.code : EXIT.unshipped.code
  }
}
