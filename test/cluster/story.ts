// Stories of a cluster as text (test/scenarios/*.txt): what is done, line by line, and what is expected. Everything that is told is done
// to real processes. Each story ends with `end`: the crawl has come to its end, and the judge has nothing against it.
//
//   cluster hosts 12 pages 40 shares 6 lease 5s delay 30ms       a web, NATS servers (`servers 3`), and a crawl that is set up
//                                          (`seeds 2` hosts; `cross 0`: no host links to another; `max-pages 40`)
//   start a b                              nodes join, or come back       start twin a      aTwin says it is a
//   all shares run                         waits until each has an awake owner
//   150 requests                           waits until so many more were made
//   kill a · freeze a · wake a · interrupt a
//   drain a · resume a · remove a · stop   by `portolan cluster`
//   pause · unpause                        by `portolan cluster`
//   set --delay 60ms                       other options, by `portolan cluster`
//   seed host 7                            the root of that host is a seed from now on
//   nobody is asked any more               waits until no request was made for a while
//   nobody was asked meanwhile             no request was made since then
//   way of a                               from its next start on it reaches the engine over a wire of its own
//   cut a · slow a 300ms · mend a          that wire
//   kill server n1 · start server n1 · restart servers · servers forget
//   a has nothing · a has shares           waits until it is so
//   a is gone with 3                       waits for its end: exit code, or the signal
//   a is another incarnation               waits until it has been reborn
//   a says: some words                     waits until it has said so
//   a says now: some words                 the same, in its present life
//   another crawl later of format 99       beside this one, in the same engine
//   refused (some words): cluster drain x   a command that must fail, and its reason
//   all nodes end                          waits for that
//   end                                    the same, and judges

import { readFileSync } from 'node:fs'
import { parseDuration, systemClock } from '../../src/base/index.ts'
import { connectEngine } from '../../src/engine/index.ts'
import { portolan } from '../cli/portolan.ts'
import type { Disturbance } from './disturbances.ts'
import { forgetTail } from './forgetful-nats.ts'
import { type ClusterVerdict, judgeCluster } from './judge-cluster.ts'
import { RealCluster } from './real-cluster.ts'
import { TcpProxy } from './tcp-proxy.ts'

/** Longer than any request, and than a busy machine hesitates between two. */
const STILL_MS = 4_000

type Step = (story: Story, words: RegExpExecArray) => Promise<void> | void

const STEPS: readonly (readonly [pattern: RegExp, step: Step])[] = [
  [/^start twin (\w+)$/, (story, [, name = '']) => story.startTwin(name)],
  [/^start server (\w+)$/, (story, [, name = '']) => story.startServer(name)],
  [/^start ([\w ]+)$/, ({ cluster }, [, names = '']) => names.split(' ').forEach((name) => void cluster.start(name))],
  [/^all shares run$/, ({ cluster }) => cluster.settled()],
  [/^(\d+) requests$/, ({ cluster }, [, count]) => cluster.askedMore(Number(count))],
  [/^kill server (\w+)$/, (story, [, name = '']) => story.killServer(name)],
  [/^restart servers$/, (story) => story.restartServers(async () => {})],
  [/^servers forget$/, (story) => story.restartServers(forgetTail)],
  [/^kill (\w+)$/, async ({ cluster }, [, name = '']) => void (await cluster.kill(name))],
  [/^freeze (\w+)$/, (story, [, name = '']) => story.freeze(name)],
  [/^wake (\w+)$/, (story, [, name = '']) => story.wake(name)],
  [/^interrupt (\w+)$/, ({ cluster }, [, name = '']) => cluster.node(name).interrupt()],
  [
    /^(drain|resume|remove) (\w+)$/,
    async ({ cluster }, [, action = '', name = '']) => void (await cluster.command(action, [name])),
  ],
  [/^(pause|unpause|stop)$/, async ({ cluster }, [, action = '']) => void (await cluster.command(action))],
  [/^set (.*)$/, async ({ cluster }, [, flags = '']) => void (await cluster.command('set', flags.split(' ')))],
  [/^seed host (\d+)$/, (story, [, host]) => story.seed(Number(host))],
  [/^nobody is asked any more$/, (story) => story.standsStill()],
  [/^nobody was asked meanwhile$/, (story) => story.stoodStill()],
  [/^way of (\w+)$/, (story, [, name = '']) => story.openWay(name)],
  [/^cut (\w+)$/, (story, [, name = '']) => story.cut(name)],
  [/^slow (\w+) (\w+)$/, (story, [, name = '', time = '']) => story.way(name).delay(parseDuration(time) ?? 0)],
  [/^mend (\w+)$/, (story, [, name = '']) => story.mend(name)],
  [/^(\w+) has nothing$/, (story, [, name = '']) => story.until(name, ({ shares }) => shares.size === 0)],
  [/^(\w+) has shares$/, (story, [, name = '']) => story.until(name, ({ shares }) => shares.size > 0)],
  [/^(\w+) is gone with (\w+)$/, (story, [, name = '', how = '']) => story.gone(name, how)],
  [
    /^(\w+) is another incarnation$/,
    (story, [, name = '']) =>
      story.until(name, ({ said }) => said.some(({ line }) => /again as incarnation/.test(line))),
  ],
  [
    /^(\w+) says: (.*)$/,
    (story, [, name = '', text = '']) => story.until(name, ({ said }) => said.some(({ line }) => line.includes(text))),
  ],
  [
    /^(\w+) says now: (.*)$/,
    (story, [, name = '', text = '']) =>
      story.until(name, ({ saidNow }) => saidNow.some((line) => line.includes(text))),
  ],
  [
    /^refused \((.*)\): (node|cluster) (.*)$/,
    (story, [, why = '', which = '', args = '']) => story.refused(which, args, why),
  ],
  [/^another crawl (\w+) of format (\d+)$/, (story, [, name = '', format]) => story.defineOther(name, Number(format))],
  [/^all nodes end$/, async ({ cluster }) => void (await cluster.finished())],
  [/^end$/, (story) => story.end()],
]

/** Tells a story. Fails with the line that did not come true. */
export async function tellStory(path: string): Promise<ClusterVerdict> {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map((text, index) => ({ text: text.replace(/ {2,}#.*$/, '').trim(), number: index + 1 }))
    .filter(({ text }) => text !== '' && !text.startsWith('#'))
  const [first, ...rest] = lines
  await using story = await Story.begin(first?.text ?? '')
  for (const { text, number } of rest) {
    const [, step] = STEPS.find(([pattern]) => pattern.test(text)) ?? []
    const words = STEPS.map(([pattern]) => pattern.exec(text)).find((found) => found !== null)
    if (step === undefined || words === undefined || words === null)
      throw new Error(`${path}:${number}: what is '${text}'?`)
    try {
      await step(story, words)
    } catch (cause) {
      throw new Error(
        `${path}:${number}: ${text}: ${cause instanceof Error ? cause.message : ''}\n${story.cluster.story(40)}`,
        {
          cause,
        },
      )
    }
  }
  if (story.verdict === null) throw new Error(`${path}: the story has no end`)
  return story.verdict
}

class Story implements AsyncDisposable {
  readonly cluster: RealCluster
  verdict: ClusterVerdict | null = null
  readonly #ways = new Map<string, TcpProxy>()
  readonly #disturbed = new Map<string, Disturbance>()
  /** Requests that had been made when nobody was asked any more. */
  #stoodAt = 0

  private constructor(cluster: RealCluster) {
    this.cluster = cluster
  }

  static async begin(line: string): Promise<Story> {
    const [head, ...words] = line.split(/\s+/)
    if (head !== 'cluster') throw new Error(`a story begins with its cluster, not with '${line}'`)
    const said = new Map<string, string>()
    for (let i = 0; i + 1 < words.length; i += 2) said.set(words[i] ?? '', words[i + 1] ?? '')
    const time = (name: string, usual: string): number => parseDuration(said.get(name) ?? usual) ?? 0
    const cluster = await RealCluster.start({
      web: {
        hosts: Number(said.get('hosts') ?? 12),
        pages: Number(said.get('pages') ?? 40),
        meanBytes: 1_000,
        linksPerPage: 6,
        branching: 5,
        crossHostShare: Number(said.get('cross') ?? 0.3),
        latencyMs: 2,
      },
      seeds: Number(said.get('seeds') ?? 2),
      shares: Number(said.get('shares') ?? 6),
      leaseMs: time('lease', '5s'),
      delayMs: time('delay', '30ms'),
      servers: said.get('servers') === '3' ? 3 : 1,
      flags: said.has('max-pages') ? ['--max-pages', said.get('max-pages') ?? ''] : [],
    })
    return new Story(cluster)
  }

  async standsStill(): Promise<void> {
    const { log } = this.cluster.web
    let [before, sinceMs] = [log.length, systemClock.nowMs()]
    await this.cluster.until('nobody to be asked', () => {
      if (log.length > before) [before, sinceMs] = [log.length, systemClock.nowMs()]
      return systemClock.nowMs() - sinceMs > STILL_MS
    })
    this.#stoodAt = before
  }

  async seed(host: number): Promise<void> {
    const url = this.cluster.web.seeds(host + 1).at(-1) ?? ''
    await this.cluster.command('seed', [url])
    if (!this.cluster.seeds.includes(url)) this.cluster.seeds.push(url)
  }

  stoodStill(): void {
    const more = this.cluster.web.log.length - this.#stoodAt
    if (more > 0) throw new Error(`${more} requests were made`)
  }

  startTwin(name: string): void {
    const { nats, crawl } = this.cluster
    this.cluster.newNode(`${name}Twin`).start(nats.urls, crawl, [], name)
  }

  async freeze(name: string): Promise<void> {
    this.#disturbed.set(name, await this.cluster.freeze(name))
  }

  wake(name: string): void {
    this.cluster.wake(name, this.#take(name))
  }

  async openWay(name: string): Promise<void> {
    const way = await TcpProxy.open(this.cluster.nats.urls[0] ?? '')
    this.#ways.set(name, way)
    this.cluster.ways.set(name, [way.url])
  }

  way(name: string): TcpProxy {
    const way = this.#ways.get(name)
    if (way === undefined) throw new Error(`${name} has no way of its own`)
    return way
  }

  async cut(name: string): Promise<void> {
    this.#disturbed.set(name, await this.cluster.disturb(`cut of ${name}`, [this.cluster.node(name)]))
    this.way(name).cut()
  }

  mend(name: string): void {
    this.way(name).mend()
    this.cluster.undisturbed(this.#take(name))
  }

  async killServer(name: string): Promise<void> {
    this.#disturbed.set(name, await this.cluster.disturb(`kill -9 of nats-server ${name}`))
    await this.cluster.nats.named(name).kill()
  }

  async startServer(name: string): Promise<void> {
    await this.cluster.nats.named(name).start()
    await this.cluster.nats.ready()
    // Whoever fell silent goes on a while after that.
    await this.cluster.settled()
    this.cluster.undisturbed(this.#take(name))
  }

  /** All of them, with something done to their files meanwhile. */
  async restartServers(meanwhile: (folder: string) => Promise<void>): Promise<void> {
    const { nats } = this.cluster
    const disturbance = await this.cluster.disturb('restart of all nats-servers')
    await Promise.all(nats.servers.map((server) => server.kill()))
    await meanwhile(nats.folder)
    await Promise.all(nats.servers.map((server) => server.start()))
    await nats.ready()
    await this.cluster.settled()
    this.cluster.undisturbed(disturbance)
  }

  async until(name: string, holds: (node: ReturnType<RealCluster['node']>) => boolean): Promise<void> {
    const node = this.cluster.node(name)
    const isGone = !node.isRunning
    await this.cluster.until('that', () => {
      const isSo = holds(node)
      if (!isSo && isGone) throw new Error(`${name} has ended, and it never came true`)
      return isSo
    })
  }

  async gone(name: string, how: string): Promise<void> {
    const node = this.cluster.node(name)
    await this.cluster.until(`the end of ${name}`, () => !node.isRunning)
    const { code, signal } = await node.ended
    if (String(code ?? signal) !== how) throw new Error(`it ended with ${code ?? signal}`)
  }

  /** As another version of Portolan would set it up. */
  async defineOther(crawl: string, format: number): Promise<void> {
    const engine = await connectEngine({ servers: this.cluster.nats.urls, crawl })
    await engine.records.create('crawl', new TextEncoder().encode(JSON.stringify({ format, from: 'the future' })))
    await engine.close()
  }

  async refused(which: string, args: string, why: string): Promise<void> {
    const { nats, crawl, dir } = this.cluster
    const given = args.trim().split(' ')
    const server = [which === 'node' ? '--join' : '--nats', nats.urls[0] ?? '']
    const named = given.includes('--crawl') ? [] : ['--crawl', crawl]
    const place = which === 'node' ? ['--dir', `${dir}/refused`] : []
    const { code, stderr } = await portolan([which, ...given, ...server, ...named, ...place])
    if (code === 0) throw new Error('it was not refused')
    if (!stderr.includes(why)) throw new Error(`it was refused with: ${stderr}`)
  }

  async end(): Promise<void> {
    await this.cluster.finished()
    this.verdict = await judgeCluster(this.cluster)
    const [first] = this.verdict.problems
    if (first !== undefined) throw new Error(this.verdict.problems.slice(0, 20).join('\n'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
    for (const way of this.#ways.values()) await way[Symbol.asyncDispose]()
  }

  #take(name: string): Disturbance {
    const disturbance = this.#disturbed.get(name)
    if (disturbance === undefined) throw new Error(`nothing was done to ${name}`)
    this.#disturbed.delete(name)
    return disturbance
  }
}
