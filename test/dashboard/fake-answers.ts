// Answers of every route of the control API, for crawls that never were.

import type { AnswerOf } from '../../src/control/api.ts'
import type { RouteName } from '../../src/control/paths.ts'
import { failureAt, FakeCrawl, hostAt, HOSTS, pageAt, PAGES } from './fake-crawl.ts'

export type FakeAsked = Readonly<Record<string, unknown>>

export class Refusal extends Error {
  readonly fields: readonly { where: string; what: string }[]
  constructor(message: string, fields: readonly { where: string; what: string }[] = []) {
    super(message)
    this.fields = fields
  }
}

type Answers = { readonly [N in RouteName]: (asked: FakeAsked, crawl: FakeCrawl, all: FakeCrawl[]) => AnswerOf<N> }

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** A part of a list of which each item can be made from its number. */
function part<T>(
  asked: FakeAsked,
  size: number,
  make: (index: number) => T,
  isMeant: (item: T) => boolean = () => true,
  total: number | null = size,
) {
  const limit = Number(asked['limit'] ?? 100)
  const items: T[] = []
  let at = asked['after'] === undefined ? 0 : Number(asked['after']) + 1
  // A server looks so far and no farther; then it says where it stopped.
  const farthest = Math.min(size, at + 20_000)
  for (; at < farthest && items.length < limit; at++) {
    const item = make(at)
    if (isMeant(item)) items.push(item)
  }
  return { items, next: at < size ? String(at - 1) : null, total }
}

let sorted: { by: string; hosts: ReturnType<typeof hostAt>[] } | null = null

function hostsBy(by: string): ReturnType<typeof hostAt>[] {
  if (sorted?.by !== by) {
    const hosts = Array.from({ length: HOSTS }, (_, at) => hostAt(at))
    const figure = by as 'pages' | 'errors' | 'bytes' | 'waiting'
    hosts.sort((a, b) => (by === 'host' ? a.host.localeCompare(b.host) : (b[figure] ?? 0) - (a[figure] ?? 0)))
    sorted = { by, hosts }
  }
  return sorted.hosts
}

const ANSWERS: Answers = {
  crawls: (_, __, all) => ({ crawls: all.map((crawl) => crawl.info()) }),
  create: (asked, _, all) => {
    const seeds = asked['seeds'] as string[]
    const options = asked['options'] as Record<string, Record<string, unknown>>
    const fields = [
      ...seeds.flatMap((seed, at) =>
        URL.canParse(seed) ? [] : [{ where: `seeds.${at}`, what: `'${seed}' is not a URL` }],
      ),
      ...(/^\d+(ms|s|m)$/.test(text(options['frontier']?.['delay']))
        ? []
        : [{ where: 'options.frontier.delay', what: 'is a duration, like 250ms or 2s' }]),
    ]
    if (seeds.length === 0) fields.push({ where: 'seeds', what: 'at least one is needed' })
    if (fields.length > 0) throw new Refusal('some fields are wrong', fields)
    const crawl = new FakeCrawl(new URL(seeds[0]!).hostname, 'running', false)
    all.push(crawl)
    return crawl.info()
  },
  crawl: (_, crawl) => crawl.info(),
  start: (_, crawl) => become(crawl, 'running', 'It goes on.'),
  pause: (_, crawl) => become(crawl, 'paused', 'It is paused.'),
  resume: (_, crawl) => become(crawl, 'running', 'It goes on.'),
  stop: (_, crawl) => become(crawl, 'stopped', 'It stops.'),
  checkpoint: (asked, crawl) => ({
    to: text(asked['to']) || `/srv/crawls/${crawl.id}-checkpoint`,
    bytes: 123_456_789,
    files: 42,
  }),
  addSeeds: (asked) => {
    const seeds = asked['seeds'] as string[]
    const bad = seeds.filter((seed) => !URL.canParse(seed))
    return {
      added: seeds.length - bad.length,
      known: 0,
      problems: bad.map((where) => ({ where, what: 'is not a URL' })),
    }
  },
  timeline: (_, crawl) => ({ samples: crawl.samples() }),
  hosts: (asked, { readShare }) => {
    if (readShare < 1) return { items: [], next: null, total: 0, readShare }
    const all = hostsBy(text(asked['sort']) || 'pages').filter(({ host }) => host.includes(text(asked['text'])))
    return { ...part(asked, all.length, (at) => all[at]!), readShare: 1 }
  },
  host: (asked) => {
    const host = text(asked['host'])
    const known = hostsBy('pages').find((one) => one.host === host)
    if (known === undefined) throw new Refusal(`the crawl does not know the host ${host}`)
    return {
      ...known,
      address: '192.0.2.17',
      restMs: 5_000,
      restBecause: ['its Crawl-delay of 5s', '1s configured', 'answers of 210 ms × 5'],
      robots: { answer: 'rules', fetchedAt: '2026-11-16T09:00:03.000Z', crawlDelayMs: 5_000 },
      statuses: { 200: 3_120, 301: 40, 404: 12, 500: 3 },
      types: { 'text/html': 2_800, 'image/png': 300, 'application/pdf': 75 },
      failures: { FETCH_CONNECT_TIMEOUT: 9 },
      skipped: { robots: 21, calendar: 4 },
      budgetLeft: 1_880,
    }
  },
  pages: (asked) => {
    const given = (name: string): string => text(asked[name])
    const [host, status, type, words] = [given('host'), given('status'), given('type'), given('text')]
    const isAll = `${host}${status}${type}${words}` === ''
    const isMeant = (page: ReturnType<typeof pageAt>): boolean =>
      (host === '' || new URL(page.url).hostname === host) &&
      (status === '' || page.status === Number(status)) &&
      (type === '' || page.type === type) &&
      words
        .toLowerCase()
        .split(' ')
        .every((word) => (page.title ?? page.url).toLowerCase().includes(word))
    return { ...part(asked, PAGES, pageAt, isMeant, isAll ? PAGES : null), readShare: 1 }
  },
  failures: (asked) => {
    const isMeant = (one: ReturnType<typeof failureAt>): boolean =>
      [one.kind, ''].includes(text(asked['kind'])) &&
      [one.reason, ''].includes(text(asked['reason'])) &&
      [new URL(one.url).hostname, ''].includes(text(asked['host']))
    return { ...part(asked, 54_000, failureAt, isMeant, null), readShare: 0.97 }
  },
  broken: (asked) => {
    const all = part(asked, 4_321, (at) => {
      const { url, via } = failureAt(at)
      return {
        at: String(at),
        url,
        outcome: at % 3 === 0 ? 'DNS_NO_NAME' : '404',
        linkedFrom: { count: 1 + (at % 90), pages: via === null ? [] : [via] },
      }
    })
    return { ...all, readShare: 1 }
  },
  explain: (asked) => {
    const url = text(asked['url'])
    const page = Array.from({ length: 400 }, (_, at) => pageAt(at)).find((one) => one.url === url)
    return {
      url,
      host: URL.canParse(url) ? new URL(url).hostname : '',
      state: page === undefined ? 'never-met' : 'page',
      found: page === undefined ? null : { via: 'https://www.example.org/', depth: 2, isSeed: false },
      page: page ?? null,
      failure: null,
      earlierVisits: 0,
      linkedFrom: { count: 7, pages: ['https://www.example.org/', 'https://docs.example.org/a?b=<script>'] },
      robots: { allowed: true, line: 12, rule: 'Allow: /', answer: 'rules', fetchedAt: '2026-11-16T09:00:03.000Z' },
      refusal: page === undefined ? 'out-of-scope' : null,
      rest: null,
      manners: { restMs: 5_000, because: ['its Crawl-delay of 5s', '1s configured'], learntFrom: 0, pause: null },
      trap: { seen: 3, why: 'nothing' },
    }
  },
  trace: (asked, crawl) => {
    crawl.record('trace', { url: asked['url'] })
    return { text: 'Its steps are told among the events from now on.' }
  },
  statistics: () => ({
    statuses: { 200: 720_000, 301: 41_000, 404: 36_000, 410: 2_000, 500: 9_000, 304: 7_000 },
    types: {
      'text/html': 610_000,
      'image/png': 90_000,
      'application/pdf': 44_000,
      'text/css': 31_000,
      'image/jpeg': 45_000,
    },
    sizes: Array.from(
      { length: 12 },
      (_, at) => [2 ** (10 + at), Math.round(200_000 * Math.exp(-((at - 4) ** 2) / 6))] as [number, number],
    ),
    duplicates: 35_600,
    topLevelDomains: ['org', 'net', 'example', 'test', 'museum'].map((name, at) => ({
      name,
      hosts: 3_000 >> at,
      pages: 400_000 >> at,
    })),
    servers: { nginx: 510_000, Apache: 180_000, 'lighttpd/<1.4>': 41_000, Caddy: 9_000 },
    languages: { en: 400_000, de: 120_000, fr: 61_000, ja: 22_000, 'none said': 217_000 },
    depths: Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [String(at), Math.round(90_000 * Math.exp(-((at - 3) ** 2) / 5))]),
    ),
    readShare: 1,
  }),
  settings: (_, crawl) => ({ settings: crawl.settings }),
  preview: (asked) => {
    check(asked)
    const exclude = (asked['options'] as Record<string, Record<string, unknown>>)['url']?.['exclude']
    const hit = Array.isArray(exclude) && exclude.length > 2 ? 1_234 : 0
    return {
      waiting: 56_789,
      hit,
      reasons: hit === 0 ? {} : { excluded: hit },
      examples: hit === 0 ? [] : ['https://tracker.example.org/p?<b>1</b>', 'https://tracker.example.org/2'],
      isComplete: true,
      takesEffect: 'anew',
    }
  },
  set: (asked, crawl) => {
    check(asked)
    const options = asked['options'] as Record<string, Record<string, unknown>>
    crawl.settings = crawl.settings.map((one) => {
      const value = options[one.section]?.[one.key]
      if (value === undefined) return one
      return value === null ? { ...one, value: one.usual, isSaid: false } : { ...one, value, isSaid: true }
    })
    crawl.record('settings', options)
    return { takesEffect: 'anew', text: 'The settings are changed.' }
  },
  speed: (asked, crawl) => {
    const { crawl: _, ...what } = asked
    crawl.record('speed', what)
    return { text: 'The speed is changed.' }
  },
  agents: (_, crawl) => ({
    agents: Array.from({ length: 4 }, (__, agent) => ({
      agent,
      node: crawl.isCluster ? (crawl.nodes[agent % 3]?.node ?? null) : null,
      pages: 205_000 + agent * 31,
      failed: 4_300,
      waiting: 14_000,
      hosts: 1_250,
      active: crawl.isRunning ? 33 : 0,
      limit: crawl.isRunning ? 64 : 0,
      bottleneck: !crawl.isRunning ? 'at rest' : agent === 2 ? 'cpu' : 'demand',
      speed: { connections: 64, ratePerSecond: agent === 1 ? 10 : null, bytesPerSecond: null },
    })),
  }),
  nodes: (_, crawl) => ({
    shares: 48,
    nodes: crawl.nodes.map((one, at) => ({
      ...one,
      host: `${one.node}.lan`,
      version: '0.1.0',
      pages: 270_000 + at,
      waiting: 19_000,
      active: 44,
      rssBytes: 800_000_000,
      cpuSeconds: 4_000,
      lastBeatMs: 400 + at * 300,
    })),
  }),
  nodeAction: (asked, crawl) => {
    const node = crawl.nodes.find((one) => one.node === asked['node'])
    if (node === undefined) throw new Refusal('there is no such node')
    const action = text(asked['action'])
    if (action === 'remove') crawl.nodes = crawl.nodes.filter((one) => one !== node)
    else node.state = action === 'drain' ? 'draining' : 'working'
    if (action === 'drain') node.shares = node.shares.slice(0, 4)
    crawl.record(action, { node: node.node })
    return { text: `${node.node}: ${action}.` }
  },
  nodeWeight: (asked, crawl) => {
    const weight = Number(asked['weight'])
    if (!(weight > 0)) throw new Refusal('some fields are wrong', [{ where: 'weight', what: 'is a number above 0' }])
    const node = crawl.nodes.find((one) => one.node === asked['node'])
    if (node !== undefined) node.weight = weight
    return { text: 'The weight is changed.' }
  },
  archive: (asked) =>
    part(asked, 214, (at) => ({
      name: `archive/crawl-0${at % 4}-${String(at).padStart(5, '0')}.warc.gz${at === 0 ? '.open' : ''}`,
      bytes: at === 0 ? 31_000_000 : 1_000_000_000 + at * 1_000,
      isOpen: at === 0,
      shipped: at > 40 ? 's3://archive/north/2026-11-16' : null,
      modifiedAt: new Date(Date.UTC(2026, 10, 16, 12) - at * 600_000).toISOString(),
    })),
  events: (asked, crawl) => part(asked, crawl.events.length, (at) => crawl.events[crawl.events.length - 1 - at]!),
  changes: (asked, crawl) => part(asked, crawl.changes.length, (at) => crawl.changes[crawl.changes.length - 1 - at]!),
}

function become(crawl: FakeCrawl, state: FakeCrawl['state'], said: string): { text: string } {
  crawl.state = state
  crawl.tell('crawl', said)
  return { text: said }
}

function check(asked: FakeAsked): void {
  const options = asked['options'] as Record<string, Record<string, unknown>>
  const delay = options['frontier']?.['delay']
  if (typeof delay === 'string' && !/^\d+(ms|s|m)$/.test(delay))
    throw new Refusal('some fields are wrong', [
      { where: 'options.frontier.delay', what: 'is a duration, like 250ms or 2s' },
    ])
}

export function answerFake<N extends RouteName>(name: N, asked: FakeAsked, all: FakeCrawl[]): AnswerOf<N> {
  const crawl = all.find(({ id }) => id === asked['crawl'])
  if (asked['crawl'] !== undefined && crawl === undefined) throw new Refusal('there is no such crawl')
  return ANSWERS[name](asked, crawl ?? all[0]!, all)
}
