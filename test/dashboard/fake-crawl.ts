// A crawl that never was, for the dashboard to show: a million pages and five thousand hosts made from their numbers, hostile titles among
// them, and figures that grow. What is changed stays changed, and is written down.

import type { AnswerOf, CrawlEvent, CrawlInfo } from '../../src/control/api.ts'

export const PAGES = 1_000_000
export const HOSTS = 5_000

type Page = AnswerOf<'pages'>['items'][number]
type Host = AnswerOf<'hosts'>['items'][number]
type Failure = AnswerOf<'failures'>['items'][number]
type Setting = AnswerOf<'settings'>['settings'][number]

const BEGAN = Date.UTC(2026, 10, 16, 9, 0, 0)
/** Titles as nobody should write them. */
export const HOSTILE_TITLES = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(document.cookie)</script>',
  'invoice \u202Efdp.exe\u202C of May',
  'javascript:alert(1)',
  `ten thousand letters ${'long '.repeat(2_000)}`,
  '\u001B]0;owned\u0007\u001B[2Jclear\u0000',
  '{{constructor.constructor("alert(1)")()}}',
]
const WORDS = [
  'annual',
  'report',
  'harbour',
  'chart',
  'winds',
  'coast',
  'archive',
  'letters',
  'index',
  'news',
  'maps',
  'pilot',
]
const TYPES = ['text/html', 'text/html', 'text/html', 'image/png', 'application/pdf', 'text/css', 'image/jpeg']

/** A number from a number, the same each time. */
function mix(value: number): number {
  let hash = Math.imul(value ^ 0x9e3779b9, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

export function hostName(index: number): string {
  const word = WORDS[index % WORDS.length] ?? ''
  return index < 3
    ? ['www.example.org', 'docs.example.org', 'xn--bcher-kva.example'][index]!
    : `${word}-${index}.example.${index % 3 === 0 ? 'net' : 'org'}`
}

export function pageAt(index: number): Page {
  const random = mix(index)
  const roll = random % 100
  const status = roll < 88 ? 200 : roll < 93 ? 301 : roll < 97 ? 404 : roll < 98 ? 410 : roll < 99 ? 500 : 304
  const type = TYPES[random % TYPES.length] ?? null
  const words = [random >>> 3, random >>> 7, random >>> 11].map((one) => WORDS[one % WORDS.length]).join(' ')
  const hostile = index < 40 && index % 4 === 2 ? HOSTILE_TITLES[((index - 2) / 4) % HOSTILE_TITLES.length]! : null
  const path = `${words.replaceAll(' ', '/')}/${index}`
  return {
    at: String(index),
    url: `https://${hostName((random >>> 4) % HOSTS)}/${path}`,
    status,
    type,
    title:
      hostile ??
      (type === 'text/html' && random % 9 !== 0
        ? `${words.charAt(0).toUpperCase()}${words.slice(1)}, page ${index}`
        : null),
    bytes: 400 + (random % 90_000),
    depth: random % 9,
    fetchedAt: new Date(BEGAN + (PAGES - index) * 20).toISOString(),
    durationMs: 12 + (random % 900),
    duplicateOf: random % 23 === 0 ? `https://${hostName(random % HOSTS)}/` : null,
  }
}

export function hostAt(index: number): Host {
  const random = mix(index + 77)
  const state = (['resting', 'ready', 'out', 'parked', 'idle'] as const)[random % 5] ?? 'idle'
  return {
    host: hostName(index),
    pages: Math.max(0, Math.floor(80_000 / (index + 1)) + (random % 40)),
    errors: random % 4 === 0 ? random % 30 : 0,
    bytes: (random % 1_000) * 90_000,
    waiting: random % 2_000,
    state,
    restUntil: state === 'resting' ? new Date(Date.now() + 1_000 + (random % 9_000)).toISOString() : null,
  }
}

const REASONS = [
  'FETCH_CONNECT_TIMEOUT',
  'DNS_NO_NAME',
  'FETCH_TLS_FAILED',
  'robots',
  'host-budget',
  'calendar',
  'path-loop',
] as const

export function failureAt(index: number): Failure {
  const random = mix(index + 9)
  const reason = REASONS[random % REASONS.length]!
  return {
    at: String(index),
    url: `https://${hostName(random % HOSTS)}/gone/${index}?next=%22%3E%3Cb%3E`,
    kind: /^[A-Z]/.test(reason) ? 'failed' : 'skipped',
    reason,
    detail: reason === 'robots' ? 'Disallow: /gone/' : 'no answer within 10 s <b>at all</b>',
    depth: random % 7,
    via: `https://${hostName((random >>> 5) % HOSTS)}/`,
    when: new Date(BEGAN + index * 1_000).toISOString(),
  }
}

const option = (
  name: string,
  value: unknown,
  usual: unknown,
  schema: unknown,
  effect: Setting['takesEffect'],
  text: string,
): Setting => {
  const [section = '', key = ''] = name.split('.')
  return {
    name,
    section,
    key,
    flag: key.toLowerCase(),
    text,
    value,
    usual,
    usualText:
      typeof usual === 'string'
        ? usual
        : usual === null || (Array.isArray(usual) && usual.length === 0)
          ? 'none'
          : JSON.stringify(usual),
    isSaid: JSON.stringify(value) !== JSON.stringify(usual),
    takesEffect: effect,
    schema,
  }
}
const texts = { type: 'array', items: { type: 'string' } }

export function settingsAtFirst(): Setting[] {
  return [
    option(
      'agent.maxPages',
      null,
      null,
      { anyOf: [{ type: 'integer' }, { const: 'none' }] },
      'anew',
      'Stop after this many pages in all, over every run in the directory.',
    ),
    option('agent.connections', 256, 256, { type: 'integer' }, 'now', 'Hosts asked at the same time, at most.'),
    option(
      'agent.maxRate',
      40,
      null,
      { anyOf: [{ type: 'number' }, { const: 'none' }] },
      'now',
      'Requests per second at most, of every kind and to all hosts together.',
    ),
    option(
      'agent.linkLog',
      true,
      true,
      { type: 'boolean' },
      'anew',
      'Keep who links to whom, so that the report names the pages that link to a broken one.',
    ),
    option(
      'url.scope',
      'domain',
      'host',
      { type: 'string', enum: ['host', 'domain', 'prefix', 'any'] },
      'anew',
      'How far from the seeds links are followed.',
    ),
    option('url.include', [], [], texts, 'anew', 'Follow only links whose URL matches one of these.'),
    option(
      'url.exclude',
      ['/private/', '^[a-z]+://([^/?#]*\\.)?ads\\.example\\.net(:\\d+)?(/|$)'],
      [],
      texts,
      'anew',
      'Never visit a URL that matches one of these, seeds not excepted.',
    ),
    option(
      'url.filter',
      null,
      null,
      { anyOf: [{ type: 'object' }, { type: 'null' }] },
      'anew',
      'A rule over domain, host, prefix, protocol, extension and pattern.',
    ),
    option(
      'frontier.delay',
      '1s',
      '1s',
      { type: 'string' },
      'anew',
      'Least rest of a host between two requests; 0ms for none at all.',
    ),
    option(
      'frontier.rules',
      [],
      [],
      { type: 'array', items: { type: 'object' } },
      'anew',
      'Manners for hosts one knows, first match wins.',
    ),
    option(
      'robots.obey',
      'obey',
      'obey',
      { type: 'string', enum: ['obey', 'ignore'] },
      'anew',
      'Whether robots.txt is obeyed.',
    ),
    option(
      'store.key',
      '4f1c…',
      '4f1c…',
      { type: 'string' },
      'never',
      'The key of fingerprints, made when the crawl began.',
    ),
  ]
}

export interface FakeNode {
  node: string
  state: 'working' | 'draining' | 'drained' | 'silent' | 'gone'
  weight: number
  shares: number[]
}

/** What may change. */
export class FakeCrawl {
  readonly id: string
  /** How far its catalogue is read: below 1 it has found nothing yet. */
  readShare = 1
  readonly isCluster: boolean
  state: CrawlInfo['state']
  settings = settingsAtFirst()
  nodes: FakeNode[]
  readonly events: CrawlEvent[] = []
  readonly changes: AnswerOf<'changes'>['items'] = []
  #seconds = 20_000

  constructor(id: string, state: CrawlInfo['state'], isCluster: boolean) {
    this.id = id
    this.state = state
    this.isCluster = isCluster
    this.nodes = ['harbour', 'lighthouse', 'breakwater'].map((node, at) => ({
      node,
      state: 'working',
      weight: at + 1,
      shares: Array.from({ length: 48 }, (_, share) => share).filter((share) => mix(share) % 3 === at),
    }))
    for (let at = 0; at < 120; at++)
      this.tell(at % 11 === 0 ? 'warning' : 'agent', `agent ${at % 4} was started, and holds ${at} <b>hosts</b>`)
  }

  get isRunning(): boolean {
    return this.state === 'running' || this.state === 'paused'
  }

  tell(kind: string, text: string): CrawlEvent {
    const event = {
      number: this.events.length,
      at: new Date(BEGAN + this.events.length * 60_000).toISOString(),
      kind,
      text,
    }
    this.events.push(event)
    return event
  }

  record(what: string, detail: Record<string, unknown>): void {
    this.changes.push({ number: this.changes.length, at: new Date().toISOString(), who: 'dashboard', what, detail })
    this.tell('change', `${what} ${JSON.stringify(detail)}`)
  }

  /** A second goes by. */
  tick(): void {
    if (this.state === 'running') this.#seconds++
  }

  samples(): AnswerOf<'timeline'>['samples'] {
    return Array.from({ length: 1_200 }, (_, at) => {
      const t = (at + 1) * (20_000 / 1_200)
      const wave = Math.sin(at / 60) * 900 + Math.sin(at / 17) * 240
      return {
        t,
        pages: Math.max(0, Math.round(t * 41 + wave * 6)),
        bytes: Math.round(t * 1_300_000 + wave * 90_000),
        failed: Math.round(t * 0.8 + (at > 700 && at < 760 ? (at - 700) * 20 : at >= 760 ? 1_200 : 0)),
        skipped: Math.round(t * 1.9),
        waiting: Math.round(56_789 + 30_000 * Math.sin(at / 400) + at * 3),
        hosts: HOSTS,
        active: 120 + Math.round(20 * Math.sin(at / 9)),
        rssBytes: 700_000_000 + at * 20_000,
        cpuSeconds: t * 0.7,
      }
    })
  }

  info(): CrawlInfo {
    const { id, state } = this
    const seconds = this.#seconds
    const last = this.samples().at(-1)!
    const since = seconds - last.t
    const pages = last.pages + since * 41
    return {
      id,
      name: id === 'hostile' ? '<b>hostile</b>' : id,
      dir: `/srv/crawls/${id}`,
      state,
      stoppedBecause: this.isRunning ? null : 'max-pages',
      startedAt: new Date(BEGAN).toISOString(),
      agents: 4,
      figures: {
        pages,
        failed: last.failed + since,
        failures: {
          FETCH_CONNECT_TIMEOUT: 9_100,
          DNS_NO_NAME: 5_200,
          FETCH_TLS_FAILED: 1_900,
          FETCH_BODY_SHORT: 1_000,
        },
        answers: { '2xx': Math.round(pages * 0.88), '3xx': 41_000, '4xx': 38_000, '5xx': 9_000, unchanged: 7_000 },
        skipped: {
          robots: last.skipped - 15_512 + since * 2,
          'host-budget': 9_000,
          calendar: 4_400,
          'session-id': 2_100,
          'scope-changed': 12,
        },
        refused: { 'out-of-scope': 3_100_000, scheme: 120_000, excluded: 41_000, 'too-long': 12 },
        bytes: last.bytes + since * 1_310_000,
        wireBytes: 8_100_000_000,
        seconds,
        hosts: HOSTS,
        urlsSeen: 2_400_000,
        waiting: last.waiting,
        cpuSeconds: seconds * 0.7,
        peakRssBytes: 912_000_000,
      },
      now: this.isRunning
        ? {
            pagesPerSecond: state === 'paused' ? 0 : 41.3,
            bytesPerSecond: state === 'paused' ? 0 : 1_310_000,
            active: state === 'paused' ? 0 : 132,
            hostsReady: 12,
            hostsResting: 3_420,
            rssBytes: 802_000_000,
            cpuShare: 0.71,
            slow: state === 'paused' ? 'It is paused.' : 'Its hosts rest between requests: 3,420 of 5,000 hosts.',
          }
        : null,
      cluster: this.isCluster ? { crawl: 'north', nodes: this.nodes.length } : null,
      can: this.isRunning
        ? ['pause', 'resume', 'stop', 'checkpoint', 'seed', 'set', ...(this.isCluster ? (['nodes'] as const) : [])]
        : ['start', 'checkpoint', 'set'],
    }
  }
}
