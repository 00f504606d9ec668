// The thread of one agent: opens its share, does what the node says, and says how it stands.

import { randomBytes } from 'node:crypto'
import { flushCompileCache } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { Crawl, type CrawlFigures, type CrawlPlan } from '../agent/index.ts'
import { assert, type ClockMs, Fault, FaultTally, NO_FAULTS, Random, SeededFaults, systemClock } from '../base/index.ts'
import { ContentMarks, PortWire } from '../exchange/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import type { AgentOrders, AgentStatus, ClusterOrders, Earlier, FromAgent, ToAgent } from './agent-messages.ts'
import type { ClusteredAgent, Seat } from './clustered-agent.ts'
import { breakNowAndThen } from './agent-faults.ts'
import type { AgentQuestion } from './agent-questions.ts'
import { answerQuestion } from './answer-question.ts'
import { type IndexOrder, sortIndex } from './index-order.ts'
import { domainGateOf, ipGateSettings } from './ip-gate-settings.ts'
import { plainFault } from './plain-fault.ts'
import { processCpuMs } from './process-cpu.ts'

type Order = Exclude<ToAgent, { readonly kind: 'die' }>

const BEAT_MS = 500
const STATUS_MS = 250

const orders = workerData as AgentOrders
const port = parentPort
assert(port !== null, 'an agent runs in a thread of its own')
const say = (message: FromAgent): void => port.postMessage(message)

let mayClose: () => void = () => {}
const finish = new Promise<void>((resolve) => {
  mayClose = resolve
})
/** True from the moment a permit is asked for until some come. */
let isShort = false
/** Once between two questions is enough. */
let isIdleSaid = false
let statusTimer: NodeJS.Timeout | null = null
/** What is held, or is about to be, for a checkpoint. */
let held: Held | null = null

/** What is said before the share is open is obeyed when it is; but whoever is to die need not open it. */
const early: Order[] = []
let hear: (order: Order) => void = (order) => void early.push(order)
port.on('message', (message: ToAgent) => {
  if (message.kind === 'die') process.exit()
  hear(message)
})

const beats = new Int32Array(orders.heartbeats)
setInterval(() => Atomics.add(beats, orders.agent, 1), BEAT_MS).unref()

const faults =
  orders.faults === null
    ? NO_FAULTS
    : new SeededFaults(
        orders.faults.plan,
        new FaultTally(orders.agents, orders.faults.tally),
        orders.agent,
        orders.life,
        systemClock,
      )
faults.hit('agent-opening')

/** What was done about nodes that are lost, before the share was opened. */
let lostSaid: readonly string[] = []
let cluster: ClusteredAgent | null = null
let job: Crawl | null = null
void begin()

/** Nothing is awaited outside of it: a bundle is CommonJS (bin/load-code.js). */
async function begin(): Promise<void> {
  if (orders.cluster !== null) {
    cluster = await joinCluster(orders.cluster).catch(cannotOpen)
    if (cluster === null) return
  }
  job = await Crawl.open(planOf(orders, cluster)).catch(cannotOpen)
  if (job !== null) serve(job)
}

/** Loaded only where it is needed: it brings the engine with it. */
async function joinCluster(place: ClusterOrders): Promise<ClusteredAgent> {
  const { ClusteredAgent: Clustered } = await import('./clustered-agent.ts')
  if (place.lost.length > 0) {
    const { seeToLost } = await import('./lost-share.ts')
    const seat = seatOf(orders)
    lostSaid = await seeToLost({ orders, cluster: place, clock: systemClock, plan: planOf(orders, null), seat })
  }
  return Clustered.open(orders, place, systemClock)
}

function cannotOpen(fault: unknown): null {
  say({ kind: 'broken', fault: plainFault(fault) })
  return null
}

function serve(crawl: Crawl): void {
  hear = (order) => obey(crawl, order)
  say({
    kind: 'opened',
    isNew: crawl.isNew,
    seeds: crawl.seeds,
    knownSeeds: crawl.knownSeeds,
    isScopeChanged: crawl.isScopeChanged,
    warnings: [...crawl.warnings, ...(cluster?.warnings ?? []), ...lostSaid],
    identity: crawl.identity,
    earlier: earlierOf(crawl.figures),
    status: statusOf(crawl),
  })
  for (const order of early) hear(order)
}

function obey(crawl: Crawl, message: Order): void {
  switch (message.kind) {
    case 'connect':
      return crawl.connect(message.agent, new PortWire(message.port))
    case 'run':
      return run(crawl)
    case 'probe':
      isIdleSaid = false
      return say({ kind: 'status', round: message.round, status: statusOf(crawl) })
    case 'grant':
      isShort = false
      return crawl.grant(message.pages)
    case 'recall':
      return say({ kind: 'surrendered', pages: crawl.surrender() })
    case 'set-speed':
      return crawl.setSpeed(message.change)
    case 'pause':
      return crawl.pause()
    case 'resume':
      return crawl.resume()
    case 'ask':
      return answer(crawl, message.number, message.question)
    case 'stop':
      return crawl.stop(message.reason)
    case 'finish':
      return mayClose()
    case 'close':
      faults.hit('agent-closing')
      return close(crawl)
    case 'sort-index':
      return sortFor(message.order)
    case 'hold':
      return hold(crawl, message.attempt)
    case 'copy':
      return copy(crawl, message)
    case 'release':
      if (held?.attempt === message.attempt) letGo(held)
  }
}

function answer(crawl: Crawl, number: number, question: AgentQuestion): void {
  void answerQuestion(crawl, question).then(
    (said) => say({ kind: 'answer', number, answer: said, fault: null }),
    (fault: unknown) => say({ kind: 'answer', number, answer: null, fault: plainFault(fault) }),
  )
}

interface Held {
  readonly attempt: number
  /** Null until it holds. */
  release: (() => void) | null
  /** It was given up before it held. */
  isLetGo: boolean
}

function hold(crawl: Crawl, attempt: number): void {
  const mine: Held = { attempt, release: null, isLetGo: false }
  held = mine
  void crawl.hold().then(
    (release) => {
      if (mine.isLetGo) return release()
      mine.release = release
      say({ kind: 'held', attempt, fault: null })
    },
    (fault: unknown) => say({ kind: 'held', attempt, fault: plainFault(fault) }),
  )
}

function letGo(mine: Held): void {
  mine.isLetGo = true
  mine.release?.()
  mine.release = null
  if (held === mine) held = null
}

function copy(crawl: Crawl, { attempt, to, crawlTo }: Extract<ToAgent, { kind: 'copy' }>): void {
  const mine = held
  const isHeld = mine?.attempt === attempt && mine.release !== null
  const copied = isHeld
    ? crawl.copyHeld(to, crawlTo, () => letGo(mine))
    : Promise.reject(new Fault('ASSERTION', `copy ${attempt} of an agent that does not hold still`))
  void copied.then(
    (figures) => say({ kind: 'copied', attempt, figures, fault: null }),
    (fault: unknown) => say({ kind: 'copied', attempt, figures: null, fault: plainFault(fault) }),
  )
}

function close(crawl: Crawl): void {
  const closeAll = async (): Promise<void> => {
    try {
      await crawl.close()
    } finally {
      await cluster?.close()
    }
  }
  void closeAll().then(
    () => {
      // Now, because the thread is ended and does not end by itself. Of code that is no bundle: that is kept by whoever loads it.
      flushCompileCache()
      say({ kind: 'closed', fault: null })
    },
    (fault: unknown) => say({ kind: 'closed', fault: plainFault(fault) }),
  )
}

/** Our share is closed, and its thread as good as any: meanwhile the node reads what the crawl has come to. */
function sortFor(order: IndexOrder): void {
  void sortIndex(order).then(
    () => say({ kind: 'index-sorted', fault: null }),
    (fault: unknown) => say({ kind: 'index-sorted', fault: plainFault(fault) }),
  )
}

function run(crawl: Crawl): void {
  if (orders.faults !== null) breakNowAndThen(faults)
  cluster?.begin(crawl, (fault) => say({ kind: 'drained', fault: plainFault(fault) }))
  statusTimer = setInterval(() => say({ kind: 'status', round: null, status: statusOf(crawl) }), STATUS_MS)
  void crawl.run().then((reason) => {
    if (statusTimer !== null) clearInterval(statusTimer)
    const fault = crawl.fault === null ? null : plainFault(crawl.fault)
    say({ kind: 'ended', reason, fault, status: statusOf(crawl) })
  })
}

function earlierOf({ earlierMs, earlierCpuMs, earlierPeakRssBytes }: CrawlFigures): Earlier {
  return { ms: earlierMs, cpuMs: earlierCpuMs, peakRssBytes: earlierPeakRssBytes }
}

function statusOf(crawl: Crawl): AgentStatus {
  const { frontier, active, waitMs } = crawl.snapshot()
  const { states } = crawl
  const lending = cluster?.turnFigures ?? null
  return {
    totals: crawl.totals,
    frontier,
    active,
    waitMs,
    standing: crawl.standing(),
    pace: crawl.pace,
    broken: crawl.broken,
    ...(lending === null ? {} : { lending }),
    pagesLength: (states['pages'] as number | undefined) ?? 0,
    failures: (states['failures'] as AgentStatus['failures'] | undefined) ?? { length: 0, edition: 0 },
  }
}

function planOf(own: AgentOrders, place: ClusteredAgent | null): CrawlPlan {
  const { dir, agent, agents, seeds, settings, identity, software, environment, since, addresses, domains, contents } =
    own
  const plan: CrawlPlan = {
    dir,
    isLocked: true,
    leavesIndex: true,
    share:
      addresses === null
        ? null
        : {
            ...seatOf(own),
            here: agents,
            marks: contents === null ? null : new ContentMarks(contents, agent, agents),
            ipGate: new SharedIpGate(addresses, agent, ipGateSettings(settings), performance.timeOrigin),
            domainGate: domainGateOf(domains, agent, settings),
            turns: [],
          },
    seeds,
    settings,
    clock: systemClock,
    random: new Random(randomBytes(4).readInt32LE()),
    newIdentity: () => identity,
    software,
    environment,
    since:
      since === null
        ? undefined
        : { ms: (since.commonMs - performance.timeOrigin) as ClockMs, cpuMs: agent === 0 ? since.cpuMs : 0 },
    // The process's time is one: the first agent writes it down.
    cpuMs: agent === 0 ? processCpuMs : () => 0,
    peakRssBytes: () => process.resourceUsage().maxRSS * 1_024,
    onTrace: (url, step) => say({ kind: 'trace', url, step }),
    faults,
  }
  return place === null ? plan : place.planOf(plan, seatOf(own))
}

/** Its place among the agents of the crawl, wherever they are. */
function seatOf({ agent, agents, crawlDir }: AgentOrders): Seat {
  return {
    agent,
    agents,
    crawlDir,
    onIdle: () => {
      if (isIdleSaid) return
      isIdleSaid = true
      say({ kind: 'idle' })
    },
    mayClose: async () => {
      const fault = job?.fault ?? null
      if (fault === null) await cluster?.settle()
      say({ kind: 'drained', fault: fault === null ? null : plainFault(fault) })
      return finish
    },
    onShort: () => {
      if (isShort) return
      isShort = true
      say({ kind: 'short' })
    },
  }
}
