// A cluster of real processes over a test web: NATS servers, nodes of the command line, and what can happen to them.
//
//   await using cluster = await RealCluster.start({ web: { hosts: 20, pages: 50 }, shares: 6, leaseMs: 5_000, delayMs: 20 })
//   cluster.start('a'); cluster.start('b')
//   await cluster.asked(200)                  until the web was asked so often
//   await cluster.kill('a')
//   await cluster.finished()                  until every node that runs has come to the end of the crawl
//   const verdict = await judgeCluster(cluster)
//
// The web runs in this process, so its log and the notes of what was done have one clock.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration, systemClock } from '../../src/base/index.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { type Finished, portolan } from '../cli/portolan.ts'
import { type NatsServers, startNats } from '../nats-servers.ts'
import { type Disturbance, Disturbances } from './disturbances.ts'
import { type NodeEnd, NodeProcess } from './node-process.ts'

export interface ClusterPlan {
  readonly web: TestWebOptions
  /** Roots of so many hosts; the others are found by links. */
  readonly seeds?: number
  readonly shares: number
  readonly leaseMs: number
  readonly delayMs: number
  readonly servers?: 1 | 3
  /** How long is waited for what must come. */
  readonly patienceMs?: number
  /** More for `cluster init`. */
  readonly flags?: readonly string[]
  /** As in a configuration file. */
  readonly config?: Readonly<Record<string, unknown>>
}

/** Longer than any wait that ends well. */
const PATIENCE_MS = 200_000
const LOOK_MS = 25

export class RealCluster implements AsyncDisposable {
  readonly plan: ClusterPlan
  readonly web: TestWeb
  readonly nats: NatsServers
  readonly dir: string
  readonly crawl = 'chaos'
  /** Those it was set up with, and those that were added since. */
  readonly seeds: string[]
  readonly nodes = new Map<string, NodeProcess>()
  readonly disturbances = new Disturbances()
  /** How nodes reach the engine, where not directly. */
  readonly ways = new Map<string, readonly string[]>()

  private constructor(plan: ClusterPlan, web: TestWeb, nats: NatsServers, dir: string) {
    this.plan = plan
    this.web = web
    this.nats = nats
    this.dir = dir
    this.seeds = [...web.seeds(plan.seeds ?? 2)]
  }

  static async start(plan: ClusterPlan): Promise<RealCluster> {
    const dir = mkdtempSync(join(tmpdir(), 'portolan-cluster-'))
    const [web, nats] = await Promise.all([startTestWeb(plan.web), startNats({ servers: plan.servers ?? 1 })])
    const cluster = new RealCluster(plan, web, nats, dir)
    try {
      const config = join(dir, 'config.json')
      writeFileSync(config, JSON.stringify(plan.config ?? {}))
      await cluster.command('init', [
        ...cluster.seeds,
        ...['--scope', 'any', '--allow-private', '--config', config, '--shares', String(plan.shares)],
        ...['--lease', formatDuration(plan.leaseMs), '--delay', formatDuration(plan.delayMs), ...(plan.flags ?? [])],
      ])
      return cluster
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
  }

  node(name: string): NodeProcess {
    const node = this.nodes.get(name)
    if (node === undefined) throw new Error(`there is no node ${name}`)
    return node
  }

  get running(): NodeProcess[] {
    return [...this.nodes.values()].filter(({ isRunning }) => isRunning)
  }

  newNode(name: string): NodeProcess {
    const node = new NodeProcess(name, join(this.dir, name))
    this.nodes.set(name, node)
    return node
  }

  /** A node joins, or comes back in the directory it had. */
  start(name: string, flags: readonly string[] = []): NodeProcess {
    const node = this.nodes.get(name) ?? this.newNode(name)
    node.start(this.ways.get(name) ?? this.nats.urls, this.crawl, flags)
    return node
  }

  async kill(name: string): Promise<Disturbance> {
    const node = this.node(name)
    await node.kill()
    return this.disturbances.note('kill', `kill -9 of ${name}`, [node], systemClock.nowMs())
  }

  async freeze(name: string): Promise<Disturbance> {
    const node = this.node(name)
    await node.freeze()
    return this.disturbances.note('freeze', `freeze of ${name}`, [node])
  }

  /** What it had under way may come to something yet, until it notices. */
  wake(name: string, freeze: Disturbance): void {
    this.node(name).wake()
    freeze.endMs = systemClock.nowMs() + this.plan.leaseMs
  }

  /** The engine, or the way of some nodes to it, is about to fail. Ends with `undisturbed`. */
  async disturb(what: string, nodes: readonly NodeProcess[] = this.running): Promise<Disturbance> {
    return this.disturbances.note('engine', what, nodes)
  }

  undisturbed(disturbance: Disturbance): void {
    disturbance.endMs = systemClock.nowMs()
  }

  /** `portolan cluster …`; fails where it does. */
  async command(action: string, words: readonly string[] = []): Promise<Finished> {
    const finished = await this.tryCommand(action, words)
    if (finished.code !== 0) throw new Error(`cluster ${action} ended with ${finished.code}: ${finished.stderr}`)
    return finished
  }

  tryCommand(action: string, words: readonly string[] = []): Promise<Finished> {
    const servers = this.nats.urls.flatMap((url) => ['--nats', url])
    return portolan(['cluster', action, ...words, ...servers, '--crawl', this.crawl])
  }

  /** Until so many requests were made in all. */
  async asked(requests: number): Promise<void> {
    await this.until(`${requests} requests`, () => this.web.log.length >= requests)
  }

  /** Until so many more requests were made. */
  async askedMore(requests: number): Promise<void> {
    await this.asked(this.web.log.length + requests)
  }

  /** Until every share is held by a node that runs and is awake, and nobody else has any. */
  async settled(): Promise<void> {
    await this.until('every share to run', () => {
      const held = this.running.filter(({ isFrozen }) => !isFrozen).flatMap(({ shares }) => [...shares])
      return new Set(held).size === this.plan.shares || this.running.length === 0
    })
  }

  /** Until it holds, or long after that. */
  async until(
    what: string,
    holds: () => boolean | Promise<boolean>,
    patienceMs = this.plan.patienceMs ?? PATIENCE_MS,
  ): Promise<void> {
    const endMs = systemClock.nowMs() + patienceMs
    while (!(await holds())) {
      if (systemClock.nowMs() > endMs)
        throw new Error(`waited ${formatDuration(patienceMs)} for ${what}\n${this.story()}`)
      await sleep(LOOK_MS)
    }
  }

  /** Until every node that runs has ended. */
  async finished(patienceMs = this.plan.patienceMs ?? PATIENCE_MS): Promise<ReadonlyMap<string, NodeEnd>> {
    const nodes = this.running
    const ends = new Map<string, NodeEnd>()
    void Promise.all(nodes.map(async (node) => ends.set(node.name, await node.ended)))
    await this.until('the end of the crawl', () => ends.size === nodes.length, patienceMs)
    return ends
  }

  /** What every node has said last, for a test that fails. */
  story(lines = 15): string {
    return [...this.nodes.values()]
      .map(({ name, said }) => [`--- ${name}`, ...said.slice(-lines).map(({ line }) => line)].join('\n'))
      .join('\n')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.running.map((node) => node.kill()))
    await this.nats[Symbol.asyncDispose]()
    await this.web.stop()
    if (process.env['PORTOLAN_KEEP'] === undefined) rmSync(this.dir, { recursive: true, force: true })
  }
}
