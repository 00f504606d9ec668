// A crawl of a cluster as the control API sees and steers it, over a real NATS server, with nodes whose agents really crawl.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Fault, systemClock } from '../../src/base/index.ts'
import { initCluster } from '../../src/cluster/index.ts'
import { connectEngine } from '../../src/engine/index.ts'
import { type AnswerOf, type CrawlInfo, ROUTES } from '../../src/control/api.ts'
import { ClusterCrawl } from '../../src/control/cluster-crawl.ts'
import type { Asked, CrawlSource } from '../../src/control/crawl-source.ts'
import { NodeCatalogue } from '../../src/control/node-catalogue.ts'
import { answerForCluster } from '../../src/control/node-answers.ts'
import { openBesideCrawl } from '../../src/control/open-catalogue.ts'
import { type ClusterNodePlan, openClusterNode } from '../../src/supervise/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { settingsOf } from '../crawl/run-crawl.ts'
import { startNats } from '../nats-servers.ts'
import { parsePrometheus } from '../prometheus-text.ts'

const CRAWL = 'museums'
const SHARES = 2
const TOP = { who: 'top' }
const SAID = { frontier: { delay: '20ms', backoff: '5ms', backoffMax: '20ms' }, agent: { maxRate: 60 } }

test('a cluster is seen as one crawl, slowed, drained, and brought to its end', { timeout: 120_000 }, async () => {
  await using nats = await startNats()
  const web = await startTestWeb({ hosts: 8, pages: 60, meanBytes: 500, crossHostShare: 0.4 })
  const dir = mkdtempSync(join(tmpdir(), 'portolan-source-'))
  const seeds = web.seeds(8).map((seed) => canonicalise(seed) as CanonicalUrl)
  const engine = {
    servers: nats.urls,
    credentials: { kind: 'none' },
    crawl: CRAWL,
    replicas: 1,
  } as unknown as ClusterNodePlan['engine']
  const readSaid = (said: unknown) =>
    settingsOf({ 'allow-private': true, warc: 'none', scope: 'any' }, said as typeof SAID)
  const settings = readSaid(SAID)
  const lease = { leaseMs: 5_000, marginMs: 2_000 }
  const identity = { name: CRAWL, key: '0011223344556677', startedAtMs: 0 }
  const founder = await connectEngine(engine)
  await initCluster(founder, {
    identity: identity.key,
    shares: SHARES,
    assignment: 'rendezvous',
    ...lease,
    settings: SAID,
    seeds,
    createdAt: '2026-01-01T00:00:00.000Z',
  })
  await founder.close()
  const join_ = async (node: string) => {
    let dirs: () => readonly string[] = () => []
    const catalogue = new NodeCatalogue(() => dirs(), openBesideCrawl)
    const part = {
      id: node,
      pages: (asked: Asked<'pages'>) => catalogue.pages(asked),
      host: async () => {
        throw new Fault('CONTROL_UNKNOWN', 'no such host')
      },
    } as unknown as CrawlSource
    const job = await openClusterNode({
      dir: join(dir, node),
      node,
      weight: 1,
      here: SHARES,
      engine: { ...engine, node },
      shares: SHARES,
      assignment: 'rendezvous',
      ...lease,
      change: 0,
      seeds,
      settings,
      readSettings: readSaid,
      shelf: settings.shelf,
      identity,
      clock: systemClock,
      software: 'Portolan/test',
      environment: {},
      host: 'here',
      onEvent: () => {},
      control: (question) => answerForCluster(part, question),
    })
    dirs = () => job.shareDirs
    const ended = job.run().then(async (reason) => {
      await catalogue.close()
      await job.close()
      return reason
    })
    return { ended, stop: () => job.stop('interrupted') }
  }
  const [a, b] = [await join_('a'), await join_('b')]
  const cluster = await ClusterCrawl.open(engine)
  const source: CrawlSource = cluster
  try {
    let last: CrawlInfo | null = null
    /** Looks until it is so; and in every look figures only grow, and rates are what 60 requests a second can be. */
    const until = async (what: string, isSo: (info: CrawlInfo, nodes: AnswerOf<'nodes'>) => boolean): Promise<void> => {
      const endMs = systemClock.nowMs() + 60_000
      for (;;) {
        const info = ROUTES.crawl.answer.parse(await source.crawl({}, TOP))
        expect(info.figures.pages).toBeGreaterThanOrEqual(last?.figures.pages ?? 0)
        expect(info.now?.pagesPerSecond ?? 0).toBeGreaterThanOrEqual(0)
        expect(info.now?.pagesPerSecond ?? 0).toBeLessThan(200)
        last = info
        if (isSo(info, await source.nodes({}, TOP))) return
        if (systemClock.nowMs() > endMs) throw new Error(`waited in vain for ${what}: ${JSON.stringify(info)}`)
        await sleep(50)
      }
    }
    await until(
      'both to have shares',
      (_, { nodes }) => nodes.length === 2 && nodes.every(({ shares }) => shares.length === 1),
    )
    await until('pages', ({ figures }) => figures.pages > 5)
    expect(last).toMatchObject({
      id: CRAWL,
      state: 'running',
      agents: SHARES,
      cluster: { nodes: 2 },
      can: ['pause', 'resume', 'stop', 'seed', 'set', 'nodes'],
    })

    // How fast: all, one node, one share; the last word counts.
    const speeds = async () => (await source.agents({}, TOP)).agents.map(({ speed, node }) => ({ node, ...speed }))
    expect((await source.speed({ ratePerSecond: 8 }, TOP)).text).toBe('top: the crawl has ratePerSecond 8.')
    await source.speed({ node: 'a', connections: 6 }, TOP)
    await source.speed({ agent: 1, bytesPerSecond: 1_000_000 }, TOP)
    await expect
      .poll(speeds, { timeout: 20_000 })
      .toSatisfy(
        (all: Awaited<ReturnType<typeof speeds>>) =>
          all.length === SHARES &&
          all.every(
            ({ ratePerSecond, node, connections }) => ratePerSecond === 4 && (node !== 'a' || connections === 6),
          ) &&
          all[1]?.bytesPerSecond === 1_000_000,
      )
    await expect(source.speed({ agent: 2, ratePerSecond: 1 }, TOP)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(source.speed({ node: 'z', ratePerSecond: 1 }, TOP)).rejects.toMatchObject({ code: 'CLUSTER_REFUSED' })

    // Paused: nobody is asked by any node, and nobody takes that for the end.
    expect((await source.pause({}, TOP)).text).toContain('paused')
    await until('the pause', ({ state, now }) => state === 'paused' && now?.active === 0)
    expect((await source.pause({}, TOP)).text).toBe('It is paused.')
    expect((await source.resume({}, TOP)).text).toContain('goes on')
    await until('it to go on', ({ state }) => state === 'running')
    expect((await source.resume({}, TOP)).text).toBe('It is not paused.')

    // Lists of all nodes, in parts: what each has committed so far, the newest first, every page once.
    const wasPages = (await source.crawl({}, TOP)).figures.pages
    const shown: AnswerOf<'pages'>['items'] = []
    await expect
      .poll(
        async () => {
          shown.length = 0
          for (let after: string | undefined; ;) {
            const part = ROUTES.pages.answer.parse(await source.pages({ limit: 7, after }, TOP))
            shown.push(...part.items)
            if (part.next === null) break
            after = part.next
          }
          return shown.length
        },
        { timeout: 20_000 },
      )
      .toBeGreaterThanOrEqual(Math.min(5, wasPages))
    expect(new Set(shown.map(({ url }) => url)).size).toBe(shown.length)
    expect(new Set(shown.map(({ url }) => new URL(url).host)).size).toBeGreaterThan(1)
    await expect(source.host({ host: 'x.test' }, TOP)).rejects.toThrow('no such host')

    // Other options, on all shares: previewed, made, recorded; of two who change the same at once one is told.
    await source.pause({}, TOP)
    await until('the pause', ({ state, now }) => state === 'paused' && now?.active === 0)
    const unwanted = new URL(web.url(3, 0)).hostname
    const block = { options: { url: { block: [unwanted] } } }
    const preview = ROUTES.preview.answer.parse(await source.preview(block, TOP))
    expect(preview).toMatchObject({ isComplete: true, takesEffect: 'anew', hit: preview.reasons['blocked'] ?? 0 })
    expect(preview.hit).toBeGreaterThan(0)
    expect(preview.waiting).toBe((await source.crawl({}, TOP)).figures.waiting)
    const refused = async (options: Asked<'set'>['options']) =>
      source.set({ options }, TOP).then(
        () => [],
        (fault: unknown) =>
          (fault as { fields?: { where: string }[] }).fields?.map(({ where }) => where) ?? [String(fault)],
      )
    expect(await refused({})).toEqual(['options'])
    expect(await refused({ store: { warc: 'zstd' }, agent: { memory: '3GiB', agents: 3 } })).toEqual([
      'options.store.warc',
      'options.agent.memory',
      'options.agent.agents',
    ])
    expect(await refused({ frontier: { delay: 'soon' } })).toEqual(['options.frontier.delay'])
    expect(await refused({ fetch: { logins: [{ host: 'a.test', user: 'me', password: 'secret' }] } })).toEqual([
      'options.fetch.logins',
    ])
    const both = await Promise.allSettled([
      source.set({ options: { url: { maxDepth: 30 } } }, { who: 'one' }),
      source.set({ options: { url: { maxDepth: 40 } } }, { who: 'two' }),
    ])
    const won = both.filter(({ status }) => status === 'fulfilled')
    for (const one of both) if (one.status === 'rejected') expect(String(one.reason)).toContain('in this moment')
    expect(won.length).toBeGreaterThan(0)
    const made = await source.set(block, TOP)
    expect(made.text).toMatch(/^All shares were opened anew, and change \d holds\.$/)
    expect(await source.set(block, TOP)).toMatchObject({ text: 'It is so already.' })
    expect((await source.preview({ options: { url: { block: [] } } }, TOP)).hit).toBe(0)
    expect((await source.set({ options: { agent: { maxRate: 90 } } }, TOP)).takesEffect).toBe('now')
    const { cluster: after } = await source.crawl({}, TOP)
    await until('all to have it', ({ cluster: now }) => now?.change === after?.change && now?.sharesBehind === 0)

    // A URL is followed wherever its share is.
    const waiting = await source.preview({ options: { url: { exclude: ['.'] } } }, TOP)
    expect(waiting.hit).toBe(waiting.waiting)
    const followed = waiting.examples.find((url) => new URL(url).hostname !== unwanted) ?? ''
    expect((await source.trace({ url: followed }, TOP)).text).toMatch(/of share [01], on [ab]\.$/)
    await source.resume({}, TOP)
    await expect
      .poll(async () => (await source.events({ limit: 500 }, TOP)).items.map(({ text }) => text), { timeout: 60_000 })
      .toSatisfy((texts: string[]) => texts.some((text) => text.startsWith(followed)))

    // Seeds: durable when they are acknowledged, known the second time.
    expect(await source.addSeeds({ seeds: [web.url(2, 7), 'no URL'] }, TOP)).toMatchObject({
      added: 1,
      known: 0,
      problems: [{ where: 'seeds.1' }],
    })
    expect(await source.addSeeds({ seeds: [web.url(2, 7)] }, TOP)).toEqual({ added: 0, known: 1, problems: [] })

    const { settings: rows } = ROUTES.settings.answer.parse(await source.settings({}, TOP))
    const row = (name: string) => rows.find((one) => one.name === name)
    expect(row('frontier.delay')).toMatchObject({ value: '20ms', isSaid: true, takesEffect: 'anew' })
    expect(row('url.block')).toMatchObject({ value: [unwanted], isSaid: true })
    expect(row('agent.maxRate')).toMatchObject({ value: 90, takesEffect: 'now' })
    expect(row('store.warc')).toMatchObject({ takesEffect: 'never' })

    // A node is drained while all goes on.
    await source.nodeAction({ node: 'b', action: 'drain' } as Asked<'nodeAction'>, TOP)
    await source.speed({ ratePerSecond: null }, TOP)
    // b has none as soon as it has let go; a opens the second a moment later.
    await until(
      'b to be drained and a to have all',
      (_, { nodes }) =>
        nodes.some(({ node, state, shares }) => node === 'b' && state === 'drained' && shares.length === 0) &&
        nodes.some(({ node, shares }) => node === 'a' && shares.length === SHARES),
    )
    const families = parsePrometheus(await source.metrics())
    expect(families.get('portolan_node_shares')?.samples.get(`crawl=${CRAWL},node=a`)).toBe(SHARES)
    expect(families.get('portolan_node_done_pages_total')?.samples.get(`crawl=${CRAWL},node=b`)).toBeGreaterThan(0)

    expect(await Promise.all([a.ended, b.ended])).toEqual(['finished', 'finished'])
    await until('the end', ({ state, now }) => state === 'finished' && now === null)
    expect(last).toMatchObject({ stoppedBecause: 'finished', can: ['seed', 'set'], figures: { waiting: 0 } })
    expect([...web.log.requests()].length).toBeGreaterThan(7 * 60)
    const { items: changes } = ROUTES.changes.answer.parse(await source.changes({ limit: 100 }, TOP))
    // Of two who changed the same at once, one or both in turn.
    const others = changes.filter(({ who }) => who !== 'top')
    expect(others.length).toBe(won.length)
    expect(changes.flatMap(({ who, what }) => (who === 'top' ? [what] : [])).reverse()).toEqual([
      ...['speed', 'speed', 'speed', 'pause', 'unpause'],
      ...['pause', 'settings', 'settings', 'speed', 'unpause', 'seeds'],
      ...['drain', 'speed'],
    ])
    const { items: events } = ROUTES.events.answer.parse(await source.events({ limit: 9 }, TOP))
    expect(events.map(({ text }) => text)).toContain('Run 1 ended: finished.')
    ROUTES.nodes.answer.parse(await source.nodes({}, TOP))
    ROUTES.timeline.answer.parse(await source.timeline({}, TOP))
  } finally {
    a.stop()
    b.stop()
    await cluster.close()
    await web.stop()
    rmSync(dir, { recursive: true, force: true })
  }
})
