// A cluster of real members (src/cluster) in a simulated world, in which whatever can happen does, by one seed. After every event
// the laws are checked:
//   - never do two nodes act on one share: acting is to have its agent running while the lease is valid;
//   - a share is begun over somebody's head only when that one is in no view any more;
//   - views go forward; nobody is in one twice; whoever has left never comes back as the same;
// and when things have been quiet for `quietMs`: every share is where the last view wants it, and nothing moves any more.

import { type ClockMs, Random } from '../../src/base/index.ts'
import { ClusterMember, Lease, type ShareStanding, type WayOut } from '../../src/cluster/index.ts'
import type { Engine } from '../../src/engine/index.ts'
import { EngineState, Machine, SILENCE_MS, SimulatedEngine, World } from './simulated-world.ts'

export const LEASE_MS = 15_000
export const MARGIN_MS = 5_000
/** Longest time an agent takes to stop, a share to be released, a share to be made. */
const STOP_MS = 3_000
const RELEASE_MS = 4_000
const MAKE_MS = 6_000
/** Each wait for it lets one link of every chain of promises go on. */
const DONE = Promise.resolve()
const TAKES_AT_ONCE = 4
const GIVES_AT_ONCE = 4

export interface SimulationOptions {
  readonly seed: number | string
  readonly shares: number
  readonly marginMs?: number
}

interface LogState extends ShareStanding {
  readonly last: number
}

interface WrittenView {
  readonly members: readonly {
    node: string
    incarnation: string
    isDraining: boolean
    isLeaving: boolean
    weight: number
  }[]
}

/** One process: dies for good; the next of the same name is another object. */
export class SimulatedNode {
  readonly name: string
  readonly machine: Machine
  readonly engine: SimulatedEngine
  readonly lease: Lease
  readonly running = new Map<number, number>()
  readonly incarnations: string[] = []
  member: ClusterMember | null = null
  out: WayOut | null = null
  isDead = false
  viewSeen = 0

  constructor(name: string, machine: Machine, engine: SimulatedEngine) {
    this.name = name
    this.machine = machine
    this.engine = engine
    this.lease = new Lease(Lease.allocate(), machine, 0)
  }

  get isActive(): boolean {
    return !this.isDead && this.out === null
  }
}

export class SimulatedCluster {
  readonly world = new World()
  readonly random: Random
  readonly state = new EngineState()
  readonly nodes: SimulatedNode[] = []
  readonly logs: LogState[]
  readonly said: string[] = []
  readonly counts = { views: 0, begins: 0, takeovers: 0, fences: 0, rebirths: 0, lost: 0, refused: 0 }
  readonly #shares: number
  readonly #marginMs: number
  readonly #departed = new Set<string>()
  #lastView: WrittenView = { members: [] }
  #wishes = 0
  #incarnations = 0

  constructor(options: SimulationOptions) {
    this.random = new Random(options.seed)
    this.#shares = options.shares
    this.#marginMs = options.marginMs ?? MARGIN_MS
    this.logs = Array.from({ length: options.shares }, () => ({ epoch: 0, holder: null, last: 0, released: false }))
    this.state.onCreate = (name, value) => this.#written(name, value)
  }

  say(what: string): void {
    this.said.push(`${(this.world.nowMs / 1000).toFixed(3).padStart(9)} ${what}`)
  }

  // What can be done to it.

  start(name: string, isProven = false): SimulatedNode {
    const machine = new Machine(this.world, this.random)
    const engine = new SimulatedEngine(this.world, this.state, machine, this.random)
    const node = new SimulatedNode(name, machine, engine)
    const former = this.nodes.filter((other) => other.name === name && other.isDead)
    this.nodes.push(node)
    this.say(`${name} starts${isProven ? ', knowing that its former life is over' : ''}`)
    const settings = {
      node: name,
      weight: 1,
      version: '0',
      host: 'here',
      shares: this.#shares,
      leaseMs: LEASE_MS,
      marginMs: this.#marginMs,
      place: placeByRendezvous,
      newIncarnation: () => `i${++this.#incarnations}`,
      knownDead: isProven ? former.flatMap((other) => other.incarnations) : [],
      takesAtOnceMax: TAKES_AT_ONCE,
      givesAtOnceMax: GIVES_AT_ONCE,
    }
    ClusterMember.start({
      ...settings,
      newIncarnation: () => {
        const incarnation = settings.newIncarnation()
        node.incarnations.push(incarnation)
        return incarnation
      },
      engine: engine as unknown as Engine,
      clock: machine,
      lease: node.lease,
      keeper: this.#keeper(node),
      answer: async (question) => question,
      waitsForEngine: () => node.isActive,
      owner: {
        fenced: () => {
          this.counts.fences++
          this.say(`${name} is fenced`)
        },
        resumed: () => this.say(`${name} goes on`),
        reborn: (incarnation) => {
          this.counts.rebirths++
          this.say(`${name} is reborn as ${incarnation}`)
          this.#law(node.running.size === 0, `${name} was reborn while it ran ${[...node.running.keys()].join()}`)
        },
        viewed: (view) => {
          this.#law(view.number > node.viewSeen, `${name} went from view ${node.viewSeen} back to ${view.number}`)
          node.viewSeen = view.number
        },
        out: (how) => {
          node.out = how
          node.engine.close()
          if (how.kind === 'refused') this.counts.refused++
          this.say(`${name} is out: ${how.kind === 'refused' ? how.fault.message : how.kind}`)
          // Refused: its owner stops everything. In order: there is nothing left to stop.
          this.#law(how.kind === 'refused' || node.running.size === 0, `${name} went out while it ran something`)
          if (how.kind === 'refused' && how.fault.code !== 'CLUSTER_REFUSED') throw how.fault
          node.running.clear()
        },
      },
    }).then(
      (member) => {
        node.member = member
        if (node.isDead) member.close()
      },
      (fault: unknown) => {
        if (node.isActive) throw fault
      },
    )
    return node
  }

  kill(node: SimulatedNode): void {
    if (!node.isActive) return
    this.say(`${node.name} is killed`)
    node.isDead = true
    node.machine.isGone = true
    node.running.clear()
    node.engine.close()
    node.member?.close()
  }

  wish(kind: string, node: string | null, weight?: number): void {
    this.say(`wish: ${kind} ${node ?? ''} ${weight ?? ''}`)
    const wish = { kind, node, by: 'operator', at: 'now', ...(weight === undefined ? {} : { weight }) }
    this.state.create(`wish.${this.#wishes + 1}`, new TextEncoder().encode(JSON.stringify(wish)))
  }

  // Time.

  async run(untilMs: number): Promise<void> {
    while (this.world.next(untilMs)) {
      // What waits for the event goes on: chains of promises in a member are short.
      for (let i = 0; i < 12; i++) await DONE
      this.#checkExclusive()
    }
  }

  async runFor(ms: number): Promise<void> {
    await this.run(this.world.nowMs + ms)
  }

  // Shares.

  #keeper(node: SimulatedNode) {
    const later = async (msMax: number): Promise<void> =>
      new Promise((resolve) => {
        node.machine.callAt((node.machine.nowMs() + this.random.below(msMax)) as ClockMs, resolve)
      })
    return {
      standing: async (share: number): Promise<ShareStanding> => node.engine.ask(() => this.#log(share)),
      take: async (share: number, seen: ShareStanding, holder: { node: string; incarnation: string }) => {
        const epoch = await node.engine.ask(() => {
          const log = this.#log(share)
          if (log.last !== seen.last) return null
          this.#begun(share, log, holder)
          return log.epoch + 1
        })
        if (epoch === null) return null
        if (this.random.below(3) > 0) await later(MAKE_MS)
        if (this.random.below(20) === 0) throw new Error('the snapshot could not be read')
        node.running.set(share, epoch)
        this.#agent(node, share, epoch)
        return { epoch }
      },
      giveUp: async (share: number): Promise<void> => {
        await later(STOP_MS)
        const epoch = node.running.get(share)
        node.running.delete(share)
        await later(RELEASE_MS)
        await node.engine.ask(() => {
          const log = this.#log(share)
          const isOurs = log.holder !== null && node.incarnations.includes(log.holder.incarnation)
          if (isOurs && (epoch === undefined || log.epoch === epoch)) {
            this.logs[share] = { ...log, last: log.last + 1, released: true }
          }
        })
      },
    }
  }

  /** An agent at work adds to its log now and then, and stops when it is refused. */
  #agent(node: SimulatedNode, share: number, epoch: number): void {
    const add = (): void => {
      if (!node.isActive || node.running.get(share) !== epoch) return
      const again = (): void => {
        node.machine.callAt((node.machine.nowMs() + 1_000 + this.random.below(4_000)) as ClockMs, add)
      }
      if (!node.lease.isValid()) return again()
      node.engine
        .ask(() => {
          const log = this.#log(share)
          if (log.epoch !== epoch || log.released) return false
          this.logs[share] = { ...log, last: log.last + 1 }
          return true
        })
        .then(
          (isAdded) => {
            if (isAdded) return again()
            if (node.running.get(share) !== epoch) return
            this.counts.lost++
            node.running.delete(share)
            node.member?.lost(share)
          },
          () => again(),
        )
    }
    add()
  }

  #log(share: number): LogState {
    return this.logs[share] as LogState
  }

  #begun(share: number, log: LogState, holder: { node: string; incarnation: string }): void {
    this.counts.begins++
    const former = log.holder
    if (former !== null && !log.released && former.node !== holder.node) {
      this.counts.takeovers++
      this.say(`${holder.node} takes share ${share} over from ${former.node}`)
      const isMember = this.#lastView.members.some(({ incarnation }) => incarnation === former.incarnation)
      this.#law(!isMember, `${holder.node} began share ${share} over the head of ${former.node}, a member`)
    }
    this.logs[share] = { epoch: log.epoch + 1, holder, last: log.last + 1, released: false }
  }

  // Laws.

  #law(isKept: boolean, what: string): void {
    if (!isKept) throw new LawBroken(`${what}\n${this.said.slice(-60).join('\n')}`)
  }

  #written(name: string, value: Uint8Array): void {
    const [kind = '', number = ''] = name.split('.')
    if (kind === 'wish') this.#wishes = Number(number)
    if (kind !== 'view') return
    this.counts.views++
    const view = JSON.parse(new TextDecoder().decode(value)) as WrittenView & { because: string; by: string }
    this.say(
      `view ${number} by ${view.by}: ${view.because} → ${view.members.map((one) => `${one.node}.${one.incarnation}`).join(' ')}`,
    )
    this.#law(Number(number) === this.counts.views, `view ${number} came after view ${this.counts.views - 1}`)
    const names = view.members.map((one) => one.node)
    this.#law(new Set(names).size === names.length, `view ${number} has a node twice: ${names.join(' ')}`)
    for (const { node, incarnation } of this.#lastView.members) {
      if (view.members.some((one) => one.incarnation === incarnation)) continue
      this.#departed.add(incarnation)
      if (view.because.includes(`${node} is dead`)) this.#checkDead(`${node}.${incarnation}`)
    }
    for (const { incarnation } of view.members) {
      this.#law(!this.#departed.has(incarnation), `view ${number} has ${incarnation}, which had left`)
    }
    this.#lastView = view
  }

  /** Nobody is taken for dead who is not, or was not just now. */
  #checkDead(name: string): void {
    const beat = this.state.beats.get(name)
    if (beat === undefined) return
    const { nowMs } = this.world
    const isSilent = nowMs - beat.atMs >= SILENCE_MS || nowMs - beat.returnedMs <= SILENCE_MS
    this.#law(isSilent, `${name} was taken for dead, and was last heard of ${nowMs - beat.atMs} ms ago`)
  }

  #checkExclusive(): void {
    const actors = new Map<number, SimulatedNode>()
    for (const node of this.nodes) {
      if (node.isDead || node.running.size === 0 || !node.lease.isValid()) continue
      for (const share of node.running.keys()) {
        const other = actors.get(share)
        this.#law(other === undefined, `${other?.name} and ${node.name} both act on share ${share}`)
        actors.set(share, node)
      }
    }
  }

  /** After a quiet time: everything is in its place. */
  checkSettled(): void {
    const active = this.nodes.filter((node) => node.isActive)
    for (const node of active) {
      const phase = node.member?.report().phase
      this.#law(phase === 'member', `${node.name} is ${phase}`)
      this.#law(node.lease.isValid(), `${node.name} has no lease`)
    }
    const leaver = this.#lastView.members.find(({ isLeaving }) => isLeaving)
    this.#law(leaver === undefined, `${leaver?.node} has still to leave`)
    const members = this.#lastView.members.map(({ incarnation }) => incarnation).sort()
    const living = active.map((node) => node.member?.incarnation ?? '').sort()
    this.#law(members.join() === living.join(), `the view has ${members.join()}, and alive are ${living.join()}`)
    const targets = placeByRendezvous(
      this.#shares,
      this.#lastView.members.map((one) => ({
        name: one.node,
        weight: one.isDraining || one.isLeaving ? 0 : one.weight,
      })),
    )
    for (const [share, target] of targets.entries()) {
      const runners = active.filter((node) => node.running.has(share)).map((node) => node.name)
      this.#law(
        runners.join() === (target ?? ''),
        `share ${share} runs on '${runners.join()}', and should on '${target}': ${JSON.stringify(this.logs[share])} ${JSON.stringify(active.map((node) => [node.name, node.member?.report().shares.find((one) => one.share === share)]))}`,
      )
    }
  }

  /** The members of the last view. */
  get viewNames(): string[] {
    return this.#lastView.members.map(({ node }) => node)
  }

  /** True when every share is where it should be; for measuring how long that takes. */
  get isSettled(): boolean {
    try {
      this.checkSettled()
      return true
    } catch (error) {
      if (error instanceof LawBroken) return false
      throw error
    }
  }
}

export class LawBroken extends Error {}

/** Weighted rendezvous, as plainly as it goes. */
export function placeByRendezvous(
  shares: number,
  nodes: readonly { readonly name: string; readonly weight: number }[],
): (string | null)[] {
  return Array.from({ length: shares }, (_, share) => {
    let best: string | null = null
    let bestScore = -Infinity
    for (const { name, weight } of nodes) {
      if (weight <= 0) continue
      const score = weight / -Math.log(new Random(`${name}/${share}`).fraction() || 1e-9)
      if (score > bestScore) [best, bestScore] = [name, score]
    }
    return best
  })
}
