// What an agent has more in a cluster: its share is kept by the engine, its wires lead over it, addresses are asked in turns that others
// grant, and it asks nobody when the lease of its node is over. Loaded in clusters only.

import { randomBytes } from 'node:crypto'
import { type Crawl, type CrawlPlan, REPLICA_FILES, type Share } from '../agent/index.ts'
import { type Clock, Random } from '../base/index.ts'
import { Lease } from '../cluster/index.ts'
import { connectEngine, type Engine } from '../engine/index.ts'
import { BorrowedTurns, EngineWires, LentTurns, Owners, SharedTurns } from '../exchange/index.ts'
import { domainGateSettings } from '../frontier/index.ts'
import { assignmentNamed } from '../placement/index.ts'
import { ShareReplica } from '../replica/index.ts'
import type { AgentOrders, ClusterOrders, TurnFigures } from './agent-messages.ts'
import { ipGateSettings } from './ip-gate-settings.ts'
import { lentAreBack, markLent, unmarkLent } from './lent-mark.ts'

/** How often it is looked whether the log has become so long that a snapshot is due. */
const SNAPSHOT_LOOK_MS = 5_000
/** A share that moves in order is back in a few seconds; one whose node died is not. */
const PATIENCE_MS = 3_000
/** Nothing is asked for longer than this, whatever the limits of requests say. */
const REQUEST_MS_MAX = 600_000

/** An agent's place in its crawl, but for what depends on where the others are. */
export type Seat = Omit<
  Share,
  'ipGate' | 'domainGate' | 'turns' | 'lending' | 'here' | 'assignment' | 'node' | 'patience'
>

export class ClusteredAgent {
  readonly #orders: AgentOrders
  readonly #cluster: ClusterOrders
  readonly #clock: Clock
  readonly #engine: Engine
  readonly #replica: ShareReplica
  readonly #lease: Lease
  readonly #turns: readonly SharedTurns[]
  /** Null where no host is lent. */
  readonly #lending: { readonly lent: LentTurns; readonly borrowed: BorrowedTurns } | null
  #isSettled = false
  #wires: EngineWires | null = null
  #timer: NodeJS.Timeout | null = null

  private constructor(
    orders: AgentOrders,
    cluster: ClusterOrders,
    clock: Clock,
    engine: Engine,
    replica: ShareReplica,
    lease: Lease,
  ) {
    this.#orders = orders
    this.#cluster = cluster
    this.#clock = clock
    this.#engine = engine
    this.#replica = replica
    this.#lease = lease
    this.#turns = turnsOf(orders, cluster, clock)
    this.#lending = lendingOf(orders, clock, lease)
  }

  /** Makes the directory of the share what its log says. */
  static async open(orders: AgentOrders, cluster: ClusterOrders, clock: Clock): Promise<ClusteredAgent> {
    const { dir, crawlDir, identity } = orders
    // A former life in this place may have lent turns that nobody waits for now.
    const waited = lentAreBack(dir)
    const engine = await connectEngine(cluster.engine)
    const lease = new Lease(cluster.lease, clock, performance.timeOrigin)
    try {
      const replica = await ShareReplica.open({
        engine,
        held: cluster.held,
        dir,
        crawlDir,
        identity,
        files: REPLICA_FILES,
        clock,
        random: new Random(randomBytes(4).readInt32LE()),
        isFenced: () => !lease.isValid(),
      })
      await waited
      return new ClusteredAgent(orders, cluster, clock, engine, replica, lease)
    } catch (fault) {
      await engine.close().catch(() => {})
      throw fault
    }
  }

  /** Null where no turn was lent, by us or to us. */
  get turnFigures(): TurnFigures | null {
    if (this.#lending === null) return null
    const { lent, lost, answers: brought } = this.#lending.lent.figures
    const { answers: asked } = this.#lending.borrowed.figures
    return lent + asked === 0 ? null : { lent, lost, brought, asked }
  }

  /** What an operator should know of how the share was made. */
  get warnings(): readonly string[] {
    const { aside, archivesMissing } = this.#replica.made
    const warnings: string[] = []
    if (aside !== null) {
      warnings.push(`what was here had another past than the share (${aside.why}); it was put aside in ${aside.dir}`)
    }
    if (archivesMissing.length > 0) {
      warnings.push(
        `${archivesMissing.length} files of the archive that were written here are gone: ${archivesMissing[0]}`,
      )
    }
    return warnings
  }

  /** The plan of an agent, as it is in a cluster. */
  planOf(plan: CrawlPlan, share: Seat): CrawlPlan {
    const [address, domain = null] = this.#turns
    const { here, held, assignment } = this.#cluster
    return {
      ...plan,
      keeper: this.#replica,
      mayAsk: () => this.#lease.isValid(),
      share: {
        ...share,
        ipGate: address as SharedTurns,
        domainGate: domain,
        turns: this.#turns,
        lending: this.#lending ?? undefined,
        here,
        assignment,
        node: held.node,
        patience: { clock: this.#clock, ms: PATIENCE_MS },
      },
    }
  }

  /** Talks to the others from now on, and has snapshots taken. */
  begin(crawl: Crawl, onFault: (fault: unknown) => void): void {
    const { agent, agents } = this.#orders
    this.#wires = new EngineWires({
      engine: this.#engine,
      crawl: this.#cluster.engine.crawl,
      share: agent,
      shares: agents,
      epoch: this.#cluster.held.epoch,
      clock: this.#clock,
      onWire: (peer, wire) => crawl.connect(peer, wire),
    })
    this.#timer = setInterval(() => {
      if (!this.#replica.wantsSnapshot) return
      // One that fails is taken later; but a fault of ours is one.
      this.#replica.snapshot(crawl).catch((fault: unknown) => {
        if ((fault as { code?: string }).code !== 'ENGINE_UNREACHABLE') onFault(fault)
      })
    }, SNAPSHOT_LOOK_MS)
  }

  /** It asks nobody any more: rights of others to addresses of ours come back first. */
  async settle(): Promise<void> {
    const lending = [this.#lending?.lent.settle(), this.#lending?.borrowed.settle()]
    await Promise.all([this.#replica.settle(), ...lending, ...this.#turns.map((turns) => turns.settle())])
    this.#isSettled = true
  }

  /** The crawl is closed. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#wires?.close()
    for (const turns of this.#turns) turns.close()
    this.#lending?.lent.close()
    if (this.#isSettled) unmarkLent(this.#orders.dir)
    this.#replica.close()
    await this.#engine.close().catch(() => {})
  }
}

function lendingOf(
  { agent, agents, settings, dir }: AgentOrders,
  clock: Clock,
  lease: Lease,
): { readonly lent: LentTurns; readonly borrowed: BorrowedTurns } | null {
  if (settings.agent.giantHost === 0) return null
  const lent = new LentTurns({
    clock,
    self: agent,
    agents,
    requestMs: requestMsOf(settings),
    leaseLeftMs: () => lease.leftMs(),
    onFirst: () => markLent(dir),
  })
  return { lent, borrowed: new BorrowedTurns({ clock, firstId: randomBytes(6).readUIntBE(0, 6) }) }
}

function requestMsOf({ fetch: { connectTimeout, requestTimeout } }: AgentOrders['settings']): number {
  return Math.min(connectTimeout + requestTimeout, REQUEST_MS_MAX)
}

function turnsOf({ agent, agents, settings }: AgentOrders, { assignment }: ClusterOrders, clock: Clock): SharedTurns[] {
  const owners = new Owners(agent, agents, assignmentNamed(assignment))
  const common = {
    self: agent,
    ownerOf: (door: number) => owners.ofSlot(door),
    clock,
    requestMs: requestMsOf(settings),
    firstId: randomBytes(6).readUIntBE(0, 6),
  }
  const address = new SharedTurns({ gate: 'address', settings: ipGateSettings(settings), ...common })
  const { domainDelay } = settings.frontier
  if (domainDelay === 0) return [address]
  return [address, new SharedTurns({ gate: 'domain', settings: domainGateSettings(domainDelay), ...common })]
}
