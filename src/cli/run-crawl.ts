// A crawl as a person runs it: progress while it lasts, signals that stop it, changes that open it anew, and what is left at the end.
//
//   crawl-job.ts     how it is opened            watch-crawl.ts     one stretch of it, from open to closed
//   steering.ts      what it is meant to be      describe-event.ts  what it tells      sum-up.ts  what it came to

import { join } from 'node:path'
import { Fault, STOPS, systemClock } from '../base/index.ts'
import { dropPendingSeeds, EventLog, loadPendingSeeds, NOT_STEERED, type SteeredCrawl } from '../control/index.ts'
import { type DirectoryLock, lockDirectory, makeDirectory, writeAtomically } from '../disk/index.ts'
import { type CrawlSummary, loadOutputs, printable, renderSummary, writeReport } from '../report/index.ts'
import type { NodeEvent } from '../supervise/index.ts'
import { openDoors } from './control-doors.ts'
import { type CrawlJob, type CrawlRequest, openCrawl, orClosed } from './crawl-job.ts'
import { describeEvent, greeting, kindOfEvent } from './describe-event.ts'
import { isGuarded, sayEnded } from './guard.ts'
import { boundHeap } from './heap-bound.ts'
import { Interruption } from './interruption.ts'
import { asItWasLeft, type LeftRun } from './left-steering.ts'
import { logFigures, logForm, logText } from './log-lines.ts'
import { Steering } from './steering.ts'
import { mergeSaid, storeSettings } from './stored-settings.ts'
import { exitCodeOf, explainNothing, faultSummary, figuresAtEnd, type RunSoFar, summaryOf } from './sum-up.ts'
import { type Stretch, watchCrawl } from './watch-crawl.ts'

export { type CrawlJob, type CrawlRequest, PROGRESS_MODES, type ProgressMode } from './crawl-job.ts'
export { faultSummary } from './sum-up.ts'

const say = (text: string, kind = 'crawl'): void => logText(kind, text)

/** `onOpen` is given the crawl once it is open, to be steered from inside the process. */
export async function runCrawl(request: CrawlRequest, onOpen?: (crawl: SteeredCrawl) => void): Promise<number> {
  for (const { where, what } of request.warnings) say(`left out: ${printable(where)}: ${printable(what)}\n`, 'warning')
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
  const onEvent = (event: NodeEvent): void => {
    if (event.kind === 'agent-stuck') hasStuckThread = true
    // A URL is followed by whoever asked for it, among the events.
    if (event.kind !== 'trace') interruption.tell(describeEvent(event), kindOfEvent(event))
  }
  let lock: DirectoryLock | null = null
  try {
    // Held over all stretches: nobody comes in between when the crawl is opened anew.
    if (request.cluster === undefined) lock = await takeDirectory(request.dir)
    const run = await crawlOn(request, interruption, onEvent, onOpen)
    return await tellAll(run, interruption, sayEnd, tellResult)
  } catch (fault) {
    await sayEnd()
    // Also a crawl that could not be opened, or whose result could not be written, owes its one JSON object.
    tellResult(faultSummary(request, fault))
    throw fault
  } finally {
    unbind()
    interruption.end()
    await lock?.release()
    if (hasStuckThread) process.kill(process.pid, 'SIGKILL')
  }
}

async function takeDirectory(dir: string): Promise<DirectoryLock> {
  const folder = join(dir, 'state')
  await makeDirectory(folder)
  return lockDirectory(folder)
}

/** A run that has ended: its last stretch, and what those before it took. */
interface EndedRun {
  readonly job: CrawlJob
  readonly request: CrawlRequest
  readonly stretch: Stretch
  readonly before: RunSoFar
}

/** Of a cluster, its engine has the say. */
function ofCluster(request: CrawlRequest): LeftRun {
  return { request, kept: NOT_STEERED, found: NOT_STEERED, words: null }
}

/** Opens it and runs it, stretch by stretch, until it is the end. */
async function crawlOn(
  asked: CrawlRequest,
  interruption: Interruption,
  onEvent: (event: NodeEvent) => void,
  onOpen: (crawl: SteeredCrawl) => void = () => {},
): Promise<EndedRun> {
  const { dir, cluster } = asked
  const left = cluster === undefined ? await asItWasLeft(asked) : ofCluster(asked)
  const { request, words } = left
  const early: NodeEvent[] = []
  let log: EventLog | null = null
  const note = (event: NodeEvent): void => {
    onEvent(event)
    if (log === null) early.push(event)
    else log.add(kindOfEvent(event), describeEvent(event))
  }
  const pending = cluster === undefined ? await loadPendingSeeds(dir) : []
  const seeds = [...new Set([...request.seeds, ...pending])]
  let job = await openCrawl({ ...request, seeds }, note)
  interruption.attach(job)
  if (pending.length > 0) await orClosed(job, () => dropPendingSeeds(dir))
  const warn = (fault: unknown): void =>
    interruption.tell(
      `The crawl goes on, but: ${printable(fault instanceof Error ? fault.message : String(fault))}`,
      'warning',
    )
  const events = await EventLog.open(dir, systemClock, warn)
  log = events
  for (const event of early.splice(0)) events.add(kindOfEvent(event), describeEvent(event))
  // Before anybody can change it: from then on whoever changes it keeps it, one at a time.
  await orClosed(job, () => storeSettings(dir, mergeSaid(request.stored, request.said)))
  const steering = new Steering(left, events, () => interruption.stop())
  await orClosed(job, () => steering.keep())
  steering.begin(job)
  const tell = (line: string): void => interruption.tell(line)
  const doors = await orClosed(job, () => openDoors(steering, request.dashboardPort ?? null, tell, warn, cluster))
  if (doors.answer !== undefined) cluster?.answerWith?.(doors.answer)
  const hello = cluster?.greeting ?? greeting(job, dir, request.seeds, request.stored)
  if (request.progress !== 'none') say(hello)
  events.add('crawl', hello.trim())
  if (words !== null) events.add('crawl', words)
  if (words !== null && request.progress !== 'none') say(`${words}\n`)
  const { pages, failed, bytes } = job.figures
  const before = { pages, failed, bytes, restarts: 0, ms: 0, cpuMs: 0 }
  onOpen(steering)
  try {
    for (let stretches = 0; ; stretches++) {
      const stretch = await watchCrawl(job, steering, interruption, stretches > 0)
      if (stretch.change === null) {
        events.add('crawl', `Ended: ${STOPS[stretch.stoppedBecause]}.`)
        return { job, request: steering.request, stretch, before }
      }
      const { runMs, cpuMs } = job.snapshot()
      before.ms += runMs
      before.cpuMs += cpuMs
      before.restarts += job.restarts
      job = await steering.reopen(stretch.change, (other) => openCrawl(other, note))
      interruption.attach(job)
    }
  } finally {
    await doors.close()
    await steering.close()
    await events.close()
  }
}

/** Writes down and tells what the run has come to. */
async function tellAll(
  { job, request, stretch, before }: EndedRun,
  interruption: Interruption,
  sayEnd: () => Promise<void>,
  tellResult: (summary: CrawlSummary) => void,
): Promise<number> {
  const { dir, isJson } = request
  const { stoppedBecause, fault, shipment } = stretch
  interruption.sayWith((line, kind) => say(`${line}\n`, kind))
  // It took no part: there is nothing to tell but why.
  if (fault instanceof Fault && fault.code === 'CLUSTER_REFUSED') throw fault
  const summary = summaryOf(job, request, before, stoppedBecause, await shipment.figures())
  // A full disk has no room for a report; everything for one is there when the crawl goes on.
  // And a node that had no share in the end has nothing to say of the crawl: what stands there stays.
  const isEmpty = request.cluster !== undefined && job.agents === 0
  const hasReport = stoppedBecause !== 'disk-full' && !isEmpty
  if (hasReport) {
    await writeAtomically(join(dir, 'crawl.json'), `${JSON.stringify(summary, null, 2)}\n`)
    await writeReport(dir, undefined, stretch.findings)
  }
  await sayEnd()
  if (fault !== null)
    say(
      `portolan ${request.cluster === undefined ? 'crawl' : 'node'}: ${fault instanceof Error ? fault.message : 'stopped by something that is no error'}\n`,
      'fault',
    )
  tellResult(summary)
  if (isEmpty && fault === null) say(`This node had no share when it ended (${STOPS[stoppedBecause]}).\n`)
  else if (logForm() === 'json') logFigures('end', figuresAtEnd(summary))
  else if (request.progress !== 'none' || !isJson) {
    const terminal = { colour: process.stderr.isTTY, width: process.stderr.columns ?? 80 }
    const style = hasReport ? { ...terminal, ...(await loadOutputs(dir)) } : { ...terminal, hasReport }
    say(`\n${renderSummary(summary, style)}`)
  }
  // A node of a cluster may have had nothing in the end, and the crawl all the same.
  const isAlone = request.cluster === undefined
  if (summary.pages === 0 && stoppedBecause === 'finished' && isAlone) {
    await explainNothing(dir, job.seeds, (text) => say(text, 'warning'))
  }
  if (fault !== null && !(fault instanceof Fault)) throw fault
  return exitCodeOf(summary, isAlone)
}
