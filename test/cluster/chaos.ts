// A crawl of real nodes to which everything happens that a seed draws, one thing after another and sometimes two at once:
//
//   kill      kill -9 of a node; it comes back in its directory, before or after others have taken its shares
//   lose      kill -9 of a node that never comes back; a blank one joins instead
//   doze      SIGSTOP for less than a lease
//   freeze    SIGSTOP until long after its shares were taken
//   drain     `portolan cluster drain`, and `resume` later
//   join      one more node
//   leave     Ctrl-C; it comes back later
//   remove    `portolan cluster remove`; it comes back later
//   server    kill -9 of a NATS server; it comes back
//   servers   all of them at once
//   pause     `portolan cluster pause`, and `unpause` later
//   set       `portolan cluster set`: a longer delay, or an option of no consequence
//   seed      `portolan cluster seed`: the root of a host
//
// The seed fixes what is drawn, not what the machine does meanwhile. At least two nodes are left alone by each fault.

import { setTimeout as sleep } from 'node:timers/promises'
import { Random, systemClock } from '../../src/base/index.ts'
import type { NodeProcess } from './node-process.ts'
import type { RealCluster } from './real-cluster.ts'

export const FAULT_KINDS = [
  'kill',
  'kill',
  'lose',
  'doze',
  'freeze',
  'freeze',
  'drain',
  'join',
  'leave',
  'remove',
  'server',
  'servers',
  'pause',
  'set',
  'set',
  'seed',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export interface ChaosPlan {
  readonly seed: string
  readonly faults: number
  readonly nodesMin: number
  readonly nodesMax: number
  /** Requests after which nothing more is done: the crawl is about to end. */
  readonly requestsMax: number
  readonly kinds?: readonly FaultKind[]
  readonly say: (line: string) => void
}

export interface DoneFault {
  readonly kind: FaultKind
  readonly what: string
  readonly atMs: number
  /** Until every share had an awake owner again; null where something else happened before. */
  settledMs: number | null
}

export class Chaos {
  readonly done: DoneFault[] = []
  readonly #cluster: RealCluster
  readonly #plan: ChaosPlan
  readonly #random: Random
  /** Nodes to which something is being done. */
  readonly #busy = new Set<string>()
  readonly #ongoing = new Set<Promise<void>>()
  #isEngineBusy = false
  #isPaused = false
  #names = 0
  readonly #startMs = systemClock.nowMs()
  #failure: unknown = null

  constructor(cluster: RealCluster, plan: ChaosPlan) {
    this.#cluster = cluster
    this.#plan = plan
    this.#random = new Random(plan.seed)
  }

  /** Does all of it; afterwards everybody is awake and nobody is drained. */
  async run(): Promise<void> {
    const { faults, requestsMax, kinds = FAULT_KINDS } = this.#plan
    const { web } = this.#cluster
    while (this.done.length < faults && web.log.length < requestsMax && this.#cluster.running.length > 0) {
      if (this.#failure !== null) throw this.#failure
      const kind = this.#random.pick(kinds)
      // Half of them begin before the last one is over.
      const isAlone = this.#random.fraction() < 0.5
      if (isAlone) await Promise.all(this.#ongoing)
      if (!this.#begin(kind)) await sleep(100)
      else if (isAlone) await this.#settle()
      else await sleep(this.#random.fraction() * 2 * this.#cluster.plan.leaseMs)
    }
    await Promise.all(this.#ongoing)
    if (this.#failure !== null) throw this.#failure
  }

  /** Two more that nobody has had. */
  newName(): string {
    return `n${++this.#names}`
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#ongoing)
    const last = this.done.at(-1)
    await this.#cluster.settled()
    if (last !== undefined) last.settledMs = systemClock.nowMs() - this.#startMs - last.atMs
  }

  #begin(kind: FaultKind): boolean {
    const free = this.#cluster.running.filter(({ name, isFrozen }) => !this.#busy.has(name) && !isFrozen)
    const victim = free.length > 2 ? this.#random.pick(free) : null
    switch (kind) {
      case 'kill':
        return this.#to(kind, victim, (node) => this.#kill(node, true))
      case 'lose':
        return this.#to(kind, victim, (node) => this.#kill(node, false))
      case 'doze':
        return this.#to(kind, victim, (node) => this.#freeze(node, 0.1 + 0.7 * this.#random.fraction()))
      case 'freeze':
        return this.#to(kind, victim, (node) => this.#freeze(node, 1.5 + 1.5 * this.#random.fraction()))
      case 'drain':
        return this.#to(kind, victim, (node) => this.#drain(node))
      case 'leave':
      case 'remove':
        return this.#to(kind, victim, (node) => this.#leave(node, kind === 'remove'))
      case 'pause':
        if (this.#isPaused) return false
        this.#note(kind, 'all')
        this.#goOn(this.#pause())
        return true
      case 'set':
      case 'seed': {
        const words = kind === 'set' ? this.#drawOptions() : [this.#drawSeed()]
        this.#note(kind, words.join(' '))
        this.#goOn(this.#order(kind, ...words))
        return true
      }
      case 'join':
        if (this.#cluster.running.length >= this.#plan.nodesMax) return false
        this.#note(kind, this.#join())
        return true
      case 'server':
      case 'servers':
        if (this.#isEngineBusy) return false
        this.#note(kind, kind === 'server' ? `nats-server ${this.#cutServers(1)}` : `all ${this.#cutServers(3)}`)
        return true
    }
  }

  #to(kind: FaultKind, node: NodeProcess | null, act: (node: NodeProcess) => Promise<void>): boolean {
    if (node === null) return false
    this.#busy.add(node.name)
    this.#note(kind, `${node.name} (shares ${[...node.shares].join(' ') || 'none'})`)
    this.#goOn(
      act(node).finally(() => {
        this.#busy.delete(node.name)
      }),
    )
    return true
  }

  #note(kind: FaultKind, what: string): void {
    const atMs = systemClock.nowMs() - this.#startMs
    this.done.push({ kind, what, atMs, settledMs: null })
    const { web, running } = this.#cluster
    this.#plan.say(
      `${String(this.done.length).padStart(4)} ${(atMs / 1_000).toFixed(1).padStart(7)} s ${kind.padEnd(8)} ${what}; ` +
        `${web.log.length} requests, ${running.length} nodes`,
    )
  }

  #goOn(work: Promise<void>): void {
    const guarded = work
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#ongoing.delete(guarded))
    this.#ongoing.add(guarded)
  }

  #join(): string {
    const name = this.newName()
    this.#cluster.start(name)
    return name
  }

  async #kill(node: NodeProcess, comesBack: boolean): Promise<void> {
    await this.#cluster.kill(node.name)
    await this.#rest(1.5 * this.#random.fraction())
    if (!comesBack) this.#join()
    else if (this.#mayStart) this.#cluster.start(node.name)
  }

  async #freeze(node: NodeProcess, leases: number): Promise<void> {
    const freeze = await this.#cluster.freeze(node.name)
    await this.#rest(leases)
    this.#cluster.wake(node.name, freeze)
  }

  async #drain({ name }: NodeProcess): Promise<void> {
    await this.#order('drain', name)
    await this.#rest(2 * this.#random.fraction())
    await this.#order('resume', name)
  }

  /** Nothing settles by itself meanwhile but shares. */
  async #pause(): Promise<void> {
    this.#isPaused = true
    try {
      await this.#order('pause')
      await this.#rest(this.#random.fraction())
    } finally {
      await this.#order('unpause')
      this.#isPaused = false
    }
  }

  /** Rests that are never shorter than the web is judged by. */
  #drawOptions(): string[] {
    const { delayMs } = this.#cluster.plan
    return this.#random.pick([
      ['--delay', `${delayMs + 1 + this.#random.below(delayMs)}ms`],
      ['--max-depth', String(1_000 + this.#random.below(1_000))],
    ])
  }

  #drawSeed(): string {
    const { web, seeds, plan } = this.#cluster
    const url = web.seeds(1 + this.#random.below(plan.web.hosts ?? 1)).at(-1) ?? ''
    if (!seeds.includes(url)) seeds.push(url)
    return url
  }

  async #leave(node: NodeProcess, byOperator: boolean): Promise<void> {
    if (byOperator) await this.#order('remove', node.name)
    else if (node.isRunning) node.interrupt()
    await node.ended
    await this.#rest(this.#random.fraction())
    if (this.#mayStart) this.#cluster.start(node.name)
  }

  /** Kills so many servers and has them come back; says which. */
  #cutServers(count: number): string {
    const { nats } = this.#cluster
    const servers = count === 1 ? [this.#random.pick(nats.servers)] : nats.servers
    const pause = this.#random.fraction()
    this.#isEngineBusy = true
    this.#goOn(
      (async () => {
        const disturbance = await this.#cluster.disturb(`kill -9 of ${servers.map(({ name }) => name).join(' ')}`)
        await Promise.all(servers.map((server) => server.kill()))
        await this.#rest(pause)
        await Promise.all(servers.map((server) => server.start()))
        await nats.ready()
        // Whoever fell silent goes on a while after the engine does.
        await this.#rest(1)
        await this.#cluster.settled()
        this.#cluster.undisturbed(disturbance)
      })().finally(() => {
        this.#isEngineBusy = false
      }),
    )
    return servers.map(({ name }) => name).join(' ')
  }

  /** An order may fail while the engine does not answer, and is given again, as a person would. */
  async #order(action: string, ...words: string[]): Promise<void> {
    for (let tries = 0; ; tries++) {
      const { code, stderr } = await this.#cluster.tryCommand(action, words)
      if (code === 0 || this.#cluster.running.length === 0) return
      if (tries === 10) throw new Error(`cluster ${action} ${words.join(' ')}: ${stderr}`)
      await this.#rest(0.3)
    }
  }

  get #mayStart(): boolean {
    return this.#cluster.web.log.length < this.#plan.requestsMax
  }

  async #rest(leases: number): Promise<void> {
    await sleep(leases * this.#cluster.plan.leaseMs)
  }
}
