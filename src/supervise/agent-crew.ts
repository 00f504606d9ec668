// The threads of a crawl's agents: started, connected, watched, and started again from their last commit when they break,
// as long as that is a cure.
//
//            start                    opened
//   (none) ─────────▶ opening ─────────────────▶ open ──▶ closed
//               ▲        │ broke: again, within    │ died, hung, killed
//               │        ▼ the budget              ▼
//               └──── waits ◀──────────────────── lost: what it held is free
//                        │ stopping, lasting fault, or budget spent
//                        ▼
//                       dead (opened once more at the end, to finish its files)
//
// What agents do and say is their node's business; here they only live and die.

import { MessageChannel } from 'node:worker_threads'
import { type Clock, type FaultPlan, FaultTally, NO_FAULTS, SeededFaults } from '../base/index.ts'
import { planMarks } from '../agent/index.ts'
import { ContentMarks } from '../exchange/index.ts'
import { SharedIpGate } from '../frontier/index.ts'
import { AgentHandle } from './agent-handle.ts'
import type {
  AgentOrders,
  AgentStatus,
  ClusterOrders,
  FromAgent,
  Opened,
  PlainFault,
  ToAgent,
} from './agent-messages.ts'
import { allocateDomains, freeAtGates } from './ip-gate-settings.ts'
import { faultOf } from './plain-fault.ts'
import { isLasting, isWaitedOut, RestartBudget } from './restart-budget.ts'
import { Timers } from './timers.ts'
import { Watchdog } from './watchdog.ts'

export interface CrewPlan {
  /** How many agents the crawl has, here and elsewhere. */
  readonly agents: number
  /** The directory of an agent's share. */
  readonly dirOf: (agent: number) => string
  /** False where the crawl's own directory is the only share: then nothing is shared among agents. One share may stand in a folder of its own. */
  readonly isShared: boolean
  /** What an agent in a cluster is started with, asked for at each start; null where all agents are here and have ports to each other. */
  readonly clusterOf: ((agent: number) => ClusterOrders) | null
  /** What every thread is started with, whichever agent it is. */
  readonly common: Pick<
    AgentOrders,
    'crawlDir' | 'seeds' | 'settings' | 'identity' | 'software' | 'environment' | 'since'
  >
  /** What of it is another at each start; left out where nothing is. */
  readonly meantOf?: (agent: number) => Pick<AgentOrders, 'seeds' | 'settings'>
  readonly clock: Clock
  readonly care: CrewCare
  /** An experiment: what is to break on purpose. */
  readonly faults: FaultPlan | null
  /** How a thread is started; left out but in tests. */
  readonly threadOf?: (...parts: ConstructorParameters<typeof AgentHandle>) => AgentThread
}

/** What is done with a thread. */
export type AgentThread = Pick<AgentHandle, 'status' | 'tell' | 'kill' | 'isStuck' | 'letGo'>

export interface CrewCare {
  /** Restarts of all agents together, before starting again counts as a loop. */
  readonly restartsMax: number
  readonly restartsWithinMs: number
  /** How often agents are looked at; one that does not move for LOOKS_MAX looks is hung. */
  readonly lookMs: number
}

export const USUAL_CARE: CrewCare = { restartsMax: 5, restartsWithinMs: 60_000, lookMs: 1_000 }

export interface CrewEvents {
  /** While 'opening' a thread that does not open is started again, while 'running' one that dies too, 'stopping' none. */
  readonly phase: () => 'opening' | 'running' | 'stopping'
  /** All that agents say but that they are open. */
  readonly onMessage: (agent: number, message: Exclude<FromAgent, Opened>) => void
  /** Its share is open, for the first time or again; it is not connected yet. */
  readonly onOpened: (agent: number, opened: Opened) => void
  /** Its thread is gone. What it had committed is there; what it held is free. */
  readonly onLost: (agent: number) => void
  /** It is open and connected again, `ms` after it died. */
  readonly onAgain: (agent: number, why: string, ms: number) => void
  /** It is dead: it broke where that was no time to start again (no fault), or it could not be. */
  readonly onLeft: (agent: number, why: string, fault: unknown) => void
  /** It is dead and its thread cannot be ended: its share is open in it, so only another process can go on with it. */
  readonly onStuck: (agent: number, why: string, fault: Error) => void
}

interface Death {
  readonly ms: number
  readonly why: string
  /** Somebody wanted it: it says nothing about whether starting again is a cure. */
  readonly isAsked: boolean
}

export class AgentCrew {
  readonly #plan: CrewPlan
  readonly #events: CrewEvents
  /** By agent: those that are here. */
  readonly #handles = new Map<number, AgentThread>()
  /** Stamps of addresses, shared by all; null where nothing is shared. */
  readonly #addresses: SharedArrayBuffer | null
  /** Those of domains; null also where domains do not rest. */
  readonly #domains: SharedArrayBuffer | null
  /** Marks of contents; null where an agent is alone, or others may be in other processes. */
  readonly #contents: SharedArrayBuffer | null
  readonly #heartbeats: SharedArrayBuffer
  readonly #watchdog: Watchdog
  readonly #budget: RestartBudget
  /** Looks at the agents, from the first thread to the last. */
  readonly #watch = new Timers()
  /** How often each was started. */
  readonly #lives: number[]
  /** Agents that are being opened: how to say that nothing comes of it. */
  readonly #opening = new Map<number, (fault: Error) => void>()
  /** When and why agents had broken whose threads are not gone yet. */
  readonly #deaths = new Map<number, Death>()
  /** Threads that could not be ended. */
  readonly #stuck = new Set<number>()
  /** Agents whose threads are gone and are not started again. */
  readonly #dead = new Set<number>()
  /** How often each was ended on purpose: whoever opens it and finds another number is not wanted any more. */
  readonly #ends: number[]
  /** Threads on their way out: their files are not opened before they are gone. */
  readonly #endings = new Map<number, Promise<void>>()
  readonly #tally: FaultTally | null
  #restarts = 0
  #isLettingGo = false

  constructor(plan: CrewPlan, events: CrewEvents) {
    this.#plan = plan
    this.#events = events
    const count = plan.agents
    this.#addresses = plan.isShared ? SharedIpGate.allocate(count) : null
    this.#domains = plan.isShared ? allocateDomains(plan.common.settings, count) : null
    this.#contents = allocateMarks(plan)
    this.#heartbeats = new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT)
    this.#watchdog = new Watchdog(this.#heartbeats)
    this.#budget = new RestartBudget(plan.care.restartsMax, plan.care.restartsWithinMs)
    this.#lives = Array.from({ length: count }, () => 0)
    this.#ends = Array.from({ length: count }, () => 0)
    this.#tally = plan.faults === null ? null : new FaultTally(count)
  }

  /** How many agents are here. */
  get size(): number {
    return this.#handles.size
  }

  /** How often an agent was started again. */
  get restarts(): number {
    return this.#restarts
  }

  /** What became of faults on purpose; null without an experiment. */
  get tally(): FaultTally | null {
    return this.#tally
  }

  isDead(agent: number): boolean {
    return this.#dead.has(agent)
  }

  /** What each agent said last, by agent. */
  get lastSaid(): readonly (AgentStatus | null)[] {
    return Array.from({ length: this.#plan.agents }, (_, agent) => this.statusOf(agent))
  }

  /** The same of those that have said something. */
  get statuses(): readonly AgentStatus[] {
    return this.lastSaid.filter((status) => status !== null)
  }

  statusOf(agent: number): AgentStatus | null {
    return this.#handles.get(agent)?.status ?? null
  }

  tell(agent: number, message: ToAgent): void {
    this.#handles.get(agent)?.tell(message)
  }

  tellAll(message: ToAgent): void {
    for (const handle of this.#handles.values()) handle.tell(message)
  }

  /** Looks at the agents from now on. */
  watch(): void {
    const { faults, clock, care } = this.#plan
    const nodeFaults =
      faults === null || this.#tally === null ? NO_FAULTS : new SeededFaults(faults, this.#tally, 0, -1, clock)
    this.#watch.every(care.lookMs, () => {
      nodeFaults.hit('node')
      this.#look()
    })
  }

  /** Resolves when all agents of the crawl are open and connected. */
  async openAll(): Promise<readonly Opened[]> {
    this.watch()
    const agents = Array.from({ length: this.#plan.agents }, (_, agent) => agent)
    const opened = await Promise.all(agents.map((agent) => this.#startUntilOpen(agent)))
    for (const [agent, message] of opened.entries()) this.#isOpen(agent, message)
    for (let one = 0; one < opened.length; one++) for (let two = 0; two < one; two++) this.#connect(one, two)
    return opened
  }

  /**
   * One more agent, in a cluster. Fails where its share cannot be opened, and where it is ended meanwhile. Tried once, and off no
   * budget: a share that cannot be opened anywhere must not use up the restarts of the others.
   */
  async open(agent: number): Promise<Opened> {
    const ends = this.#ends[agent] as number
    // Two threads in one directory would spoil each other's files.
    await this.#endings.get(agent)
    if (this.#isUnwanted(agent, ends)) throw unwanted(agent)
    if (this.#stuck.has(agent)) throw new Error(`share ${agent} is open in a thread that cannot be ended`)
    this.#dead.delete(agent)
    const opened = await this.#start(agent)
    this.#isOpen(agent, opened)
    return opened
  }

  /** Ends the thread of an agent for good: it is closed, or another node has its share. Resolves when it is gone, whoever has ended it. */
  end(agent: number): Promise<void> {
    const handle = this.#handles.get(agent)
    this.#ends[agent] = (this.#ends[agent] as number) + 1
    this.#opening.get(agent)?.(unwanted(agent))
    this.#opening.delete(agent)
    this.#handles.delete(agent)
    this.#deaths.delete(agent)
    const before = this.#endings.get(agent) ?? Promise.resolve()
    if (handle === undefined) return before
    const ending = Promise.all([handle.letGo(), before]).then(([isGone]) => {
      this.#free(agent)
      if (this.#endings.get(agent) === ending) this.#endings.delete(agent)
      if (!isGone && !this.#isLettingGo && !this.#stuck.has(agent)) this.#isStuck(agent)
    })
    this.#endings.set(agent, ending)
    return ending
  }

  /** Ends the thread of an agent, which is then started again. `isAsked`: however often, it is off no budget. */
  kill(agent: number, why: string, isAsked = false): void {
    if (!this.#deaths.has(agent)) this.#deaths.set(agent, { ms: this.#plan.clock.nowMs(), why, isAsked })
    this.#handles.get(agent)?.kill()
  }

  /** Has an agent finish its files. One that is dead is opened once more for it, so that its figures are right. */
  async close(agent: number): Promise<void> {
    if (this.#dead.has(agent)) await this.#start(agent, [])
    this.tell(agent, { kind: 'close' })
  }

  /** Ends all threads for good. */
  async letGo(): Promise<void> {
    this.#isLettingGo = true
    this.#watch.clear()
    await Promise.all([...[...this.#handles.values()].map((handle) => handle.letGo()), ...this.#endings.values()])
  }

  /** A thread for an agent; resolves when it is open. */
  #start(agent: number, seeds: AgentOrders['seeds'] | null = null): Promise<Opened> {
    return new Promise((resolve, reject) => {
      const { agents, dirOf, clusterOf, faults } = this.#plan
      const common = { ...this.#plan.common, ...this.#plan.meantOf?.(agent) }
      const life = this.#lives[agent] as number
      const orders: AgentOrders = {
        ...common,
        seeds: seeds ?? common.seeds,
        dir: dirOf(agent),
        agent,
        agents,
        cluster: clusterOf?.(agent) ?? null,
        since: life === 0 ? common.since : null,
        addresses: this.#addresses,
        domains: this.#domains,
        contents: this.#contents,
        heartbeats: this.#heartbeats,
        life,
        faults: faults === null || this.#tally === null ? null : { plan: faults, tally: this.#tally.buffer },
      }
      this.#lives[agent] = life + 1
      let isOpen = false
      let broken: PlainFault | null = null
      this.#opening.set(agent, reject)
      this.#watchdog.begun(agent)
      const { threadOf = (...parts) => new AgentHandle(...parts) } = this.#plan
      const handle = threadOf(orders, this.statusOf(agent), {
        onMessage: (_, message) => {
          if (message.kind === 'opened') {
            isOpen = true
            this.#opening.delete(agent)
            resolve(message)
          } else if (message.kind === 'broken') {
            // Told when its thread is gone: what it had open is free then.
            broken = message.fault
            handle.kill()
          } else this.#events.onMessage(agent, message)
        },
        onDeath: (_, why) => {
          if (this.#stuck.delete(agent)) return
          if (isOpen) this.#died(agent, why)
          else reject(broken === null ? new Error(`agent ${agent} could not be started: ${why}`) : faultOf(broken))
        },
      })
      this.#handles.set(agent, handle)
    })
  }

  /** Starts threads for an agent until one opens, as long as that is a cure. */
  async #startUntilOpen(agent: number): Promise<Opened> {
    const ends = this.#ends[agent] as number
    for (;;) {
      try {
        return await this.#start(agent)
      } catch (fault) {
        // An engine that is away is waited for by whoever asked: it says nothing of the agent.
        const isHopeless = isLasting(fault) || isWaitedOut(fault)
        if (isHopeless || this.#isUnwanted(agent, ends) || this.#events.phase() === 'stopping') throw fault
        this.#spend(agent, messageOf(fault))
      }
    }
  }

  #isUnwanted(agent: number, ends: number): boolean {
    return this.#isLettingGo || this.#ends[agent] !== ends
  }

  #isOpen(agent: number, message: Opened): void {
    this.#watchdog.begun(agent)
    this.#deaths.delete(agent)
    this.#events.onOpened(agent, message)
  }

  #connect(one: number, two: number): void {
    // In a cluster agents find each other.
    if (this.#plan.clusterOf !== null) return
    const { port1, port2 } = new MessageChannel()
    this.tell(one, { kind: 'connect', agent: two, port: port1 })
    this.tell(two, { kind: 'connect', agent: one, port: port2 })
  }

  /** Agents that hang are ended; a thread that cannot be ended is given up, and with it the process. */
  #look(): void {
    for (const agent of this.#watchdog.look()) {
      this.#watchdog.begun(agent)
      if (this.#handles.has(agent) && !this.#dead.has(agent)) this.kill(agent, 'it does not move any more')
    }
    for (const [agent, handle] of this.#handles) if (handle.isStuck()) this.#isStuck(agent)
  }

  #isStuck(agent: number): void {
    const why = this.#deaths.get(agent)?.why ?? 'it was told to end'
    const fault = new Error(`agent ${agent} is held by a call into the system and cannot be ended (${why})`)
    this.#stuck.add(agent)
    this.#dead.add(agent)
    this.#events.onStuck(agent, why, fault)
    this.#opening.get(agent)?.(fault)
  }

  #died(agent: number, why: string): void {
    const death = this.#deaths.get(agent) ?? { ms: this.#plan.clock.nowMs(), why, isAsked: false }
    this.#deaths.delete(agent)
    this.#free(agent)
    this.#events.onLost(agent)
    if (this.#events.phase() !== 'running') return this.#isLeft(agent, death.why, null)
    void this.#startAgain(agent, death).catch((fault: unknown) => this.#isLeft(agent, messageOf(fault), fault))
  }

  /** What it held of addresses and domains. */
  #free(agent: number): void {
    const { clock, common } = this.#plan
    if (this.#addresses === null) return
    const nowMs = performance.timeOrigin + clock.nowMs()
    freeAtGates(this.#addresses, this.#domains, agent, common.settings, nowMs)
  }

  async #startAgain(agent: number, death: Death): Promise<void> {
    if (!death.isAsked) this.#spend(agent, death.why)
    const message = await this.#startUntilOpen(agent)
    this.#isOpen(agent, message)
    for (const other of this.#handles.keys()) if (other !== agent) this.#connect(agent, other)
    this.#restarts++
    this.#events.onAgain(agent, death.why, this.#plan.clock.nowMs() - death.ms)
  }

  /** Takes a restart off the budget; throws where it is spent. */
  #spend(agent: number, why: string): void {
    const { clock, care } = this.#plan
    if (this.#budget.spend(clock.nowMs())) return
    throw new Error(
      `agents broke more than ${care.restartsMax} times in ${care.restartsWithinMs / 1_000} s; the last, agent ${agent}, is not started again: ${why}`,
    )
  }

  #isLeft(agent: number, why: string, fault: unknown): void {
    this.#dead.add(agent)
    this.#events.onLeft(agent, why, fault)
  }
}

function allocateMarks({ agents, isShared, clusterOf, common }: CrewPlan): SharedArrayBuffer | null {
  if (!isShared || clusterOf !== null || agents === 1) return null
  return ContentMarks.allocate(agents, planMarks(common.settings.agent.memory, agents))
}

function unwanted(agent: number): Error {
  return new Error(`agent ${agent} is not wanted any more`)
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
