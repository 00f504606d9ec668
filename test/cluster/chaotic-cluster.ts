// Whatever can happen to a cluster, by one seed: crashes, freezes, sleep, wires that are cut, slow, lossy or late, an engine that is
// away, clocks that are set, twins of one name, drains, weights, removals, stops. Then quiet, and everything must be in its place.

import { Random } from '../../src/base/index.ts'
import { LawBroken, LEASE_MS, MARGIN_MS, SimulatedCluster, type SimulatedNode } from './simulated-cluster.ts'

const NAMES = ['ada', 'bea', 'cai', 'dov', 'eva', 'fay'] as const

/**
 * Within this time after the last mishap every share is held again by whom the view wants: a death is seen after lease + margin, and
 * waited out as long once more at worst (rule a); an incarnation that lapsed gives up and joins; shares move four at a time.
 */
export const SETTLED_WITHIN_MS = 3 * (LEASE_MS + MARGIN_MS) + 60_000

export interface ChaosResult {
  readonly counts: SimulatedCluster['counts']
  readonly settledMs: number
}

export async function chaos(seed: number | string): Promise<ChaosResult> {
  const cluster = new SimulatedCluster({ seed, shares: 12 })
  try {
    return await new Chaos(cluster, new Random(`chaos ${seed}`)).run()
  } catch (error) {
    if (error instanceof LawBroken) throw new LawBroken(`seed ${seed}: ${error.message}`)
    throw error
  }
}

/** Again and again what is rare otherwise: a node is back just when it is taken for dead, and hears of it late. */
export async function doubt(seed: number | string): Promise<void> {
  const cluster = new SimulatedCluster({ seed: `doubt ${seed}`, shares: 4 })
  const random = new Random(`in doubt ${seed}`)
  cluster.start('ada')
  await cluster.runFor(500)
  cluster.start('bea')
  await cluster.runFor(20_000 + random.below(3_000))
  const [ada, bea] = cluster.nodes as [SimulatedNode, SimulatedNode]
  ada.engine.cut()
  Object.assign(bea.engine.wire, { delayMs: random.pick([2, 400, 1_500]), watchLagMs: random.pick([0, 60_000]) })
  await cluster.runFor(LEASE_MS + random.below(MARGIN_MS + 1_000))
  Object.assign(ada.engine.wire, { delayMs: random.pick([2, 1_500, 2_000]), watchLagMs: 400_000 })
  ada.engine.restore()
  for (let i = 0; i < 200 && !ada.lease.isValid(); i++) await cluster.runFor(50)
  // It may act, and stands still before it can hear anything more: it might go on at any moment.
  if (random.below(2) === 0) ada.machine.freeze(false)
  await cluster.runFor(40_000)
}

class Chaos {
  readonly #cluster: SimulatedCluster
  readonly #random: Random
  #isStopped = false
  #isQuiet = false

  constructor(cluster: SimulatedCluster, random: Random) {
    this.#cluster = cluster
    this.#random = random
  }

  async run(): Promise<ChaosResult> {
    const random = this.#random
    const cluster = this.#cluster
    const nodes = 2 + random.below(3)
    for (const name of NAMES.slice(0, nodes)) {
      cluster.start(name)
      await cluster.runFor(random.below(3_000))
    }
    const mishaps = 4 + random.below(16)
    const everyMs = random.pick([2_000, 8_000, 25_000])
    for (let i = 0; i < mishaps; i++) {
      await cluster.runFor(random.below(2 * everyMs))
      this.#mishap()
    }
    return this.#quiet()
  }

  async #quiet(): Promise<ChaosResult> {
    const cluster = this.#cluster
    this.#isQuiet = true
    cluster.say('quiet from here')
    for (const node of cluster.nodes) {
      node.machine.wake(this.#random)
      // What is on its way late does not come any more: it is sent again.
      node.engine.cut()
      node.engine.restore()
      Object.assign(node.engine.wire, { delayMs: 2, loss: 0, watchLagMs: 0 })
    }
    if (this.#isStopped) cluster.wish('go', null)
    this.#isStopped = false
    // What was asked for last has to be heard of first; what was asked of a dead wire fails in five seconds.
    let settledMs = 10_000
    await cluster.runFor(settledMs)
    while (settledMs < SETTLED_WITHIN_MS && !cluster.isSettled) {
      // All may have gone in order.
      if (!cluster.nodes.some((node) => node.isActive)) cluster.start('zoe')
      await cluster.runFor(1_000)
      settledMs += 1_000
    }
    cluster.checkSettled()
    const { begins, views } = cluster.counts
    await cluster.runFor(2 * LEASE_MS)
    cluster.checkSettled()
    if (cluster.counts.begins !== begins || cluster.counts.views !== views) {
      throw new LawBroken(`things move though nothing happens\n${cluster.said.slice(-20).join('\n')}`)
    }
    return { counts: cluster.counts, settledMs }
  }

  #mishap(): void {
    const cluster = this.#cluster
    const random = this.#random
    const active = cluster.nodes.filter((node) => node.isActive)
    const node = active.length === 0 ? null : random.pick(active)
    const forMs = random.pick([1_000, 6_000, 14_000, 22_000, 45_000]) * (0.5 + random.fraction())
    if (node === null) return void cluster.start(random.pick(NAMES), true)
    const kinds = [
      () => cluster.kill(node),
      () => cluster.kill(node),
      () => this.#restart(node, random.below(2) === 0),
      () => this.#freeze(node, forMs, false),
      () => this.#freeze(node, forMs, false),
      () => this.#freeze(node, forMs, true),
      () => this.#cut([node], forMs),
      () => this.#cut([node], forMs),
      () => this.#cut(active, forMs),
      () => this.#slow(node, forMs),
      () => this.#freezeInAnAnswer(node),
      () => this.#returnInDoubt(node),
      () => this.#lag(node, forMs),
      () => this.#setClock(node),
      () => cluster.start(random.pick(NAMES)),
      () => cluster.start(random.pick(NAMES)),
      // A twin.
      () => cluster.start(node.name),
      () => cluster.wish('drain', node.name),
      () => cluster.wish('resume', random.pick(NAMES)),
      () => cluster.wish('weight', node.name, random.pick([1, 2, 5])),
      () => this.#ifOthers(active, () => cluster.wish('remove', node.name)),
      () => this.#ifOthers(active, () => node.machine.receive(() => node.member?.leave())),
      () => this.#stopAndGo(forMs),
    ]
    random.pick(kinds)()
  }

  #ifOthers(active: readonly SimulatedNode[], act: () => void): void {
    if (active.length > 1) act()
  }

  #setClock(node: SimulatedNode): void {
    const byMs = this.#random.pick([-3_600_000, -5_000, 5_000, 40_000])
    this.#cluster.say(`${node.name} has its clock set by ${byMs} ms`)
    node.machine.wallOffsetMs += byMs
  }

  #restart(node: SimulatedNode, isProven: boolean): void {
    this.#cluster.kill(node)
    this.#cluster.start(node.name, isProven)
  }

  #freeze(node: SimulatedNode, forMs: number, isAsleep: boolean): void {
    this.#cluster.say(`${node.name} ${isAsleep ? 'sleeps' : 'is frozen'} for ${Math.round(forMs)} ms`)
    node.machine.freeze(isAsleep)
    this.#later(forMs, () => {
      this.#cluster.say(`${node.name} wakes`)
      node.machine.wake(this.#random)
    })
  }

  #cut(nodes: readonly SimulatedNode[], forMs: number): void {
    this.#cluster.say(`${nodes.map(({ name }) => name).join(' ')} cut off for ${Math.round(forMs)} ms`)
    for (const { engine } of nodes) engine.cut()
    this.#later(forMs, () => {
      for (const { name, engine } of nodes) {
        this.#cluster.say(`${name} connected again`)
        engine.restore()
      }
    })
  }

  #slow(node: SimulatedNode, forMs: number, wire = this.#badWire()): void {
    const { delayMs, loss } = wire
    this.#cluster.say(`${node.name} has a wire of ${delayMs} ms that loses ${loss}, for ${Math.round(forMs)} ms`)
    Object.assign(node.engine.wire, { delayMs, loss })
    this.#later(forMs, () => Object.assign(node.engine.wire, { delayMs: 2, loss: 0 }))
  }

  #badWire(): { delayMs: number; loss: number } {
    return { delayMs: this.#random.pick([50, 400, 1_500]), loss: this.#random.pick([0, 0.05, 0.3]) }
  }

  /** On a slow wire something is always on its way: it arrives while nothing runs, and is old when it is read. */
  #freezeInAnAnswer(node: SimulatedNode): void {
    this.#slow(node, 4_000, { delayMs: 1_500, loss: 0 })
    this.#later(3_000 + this.#random.below(3_000), () => {
      if (!this.#isQuiet) this.#freeze(node, 24_000 + this.#random.below(6_000), false)
    })
  }

  /** It is back just when others take it for dead, on a wire that tells it late. */
  #returnInDoubt(node: SimulatedNode): void {
    const cutMs = LEASE_MS + this.#random.below(2 * MARGIN_MS)
    this.#cut([node], cutMs)
    const wire = this.#random.pick([
      { delayMs: 1_500, watchLagMs: 80_000 },
      { delayMs: 2, watchLagMs: 80_000 },
    ])
    this.#later(cutMs - 1, () => {
      if (this.#isQuiet) return
      this.#cluster.say(`${node.name} has a wire of ${wire.delayMs} ms and hears ${wire.watchLagMs} ms late`)
      Object.assign(node.engine.wire, wire)
    })
    this.#later(cutMs + 50_000, () => Object.assign(node.engine.wire, { delayMs: 2, watchLagMs: 0 }))
  }

  #lag(node: SimulatedNode, forMs: number): void {
    this.#cluster.say(`${node.name} hears late, for ${Math.round(forMs)} ms`)
    node.engine.wire.watchLagMs = this.#random.pick([2_000, 8_000, 20_000])
    this.#later(forMs, () => void (node.engine.wire.watchLagMs = 0))
  }

  #stopAndGo(forMs: number): void {
    this.#cluster.wish('stop', null)
    this.#isStopped = true
    this.#later(forMs / 2, () => {
      if (this.#isStopped) this.#cluster.wish('go', null)
      this.#isStopped = false
    })
  }

  #later(ms: number, run: () => void): void {
    this.#cluster.world.at(this.#cluster.world.nowMs + ms, run)
  }
}
