// The control API, as a table: every route with its method, its path, what it takes and what it gives. From it come the checks of the
// server, the types of the client, and the OpenAPI document. Names of figures, outcomes and reasons are those of crawl.json.
//
//   server.ts    routes ─▶ checks ─▶ CrawlSource (crawl-source.ts)         running-crawl.ts, resting-crawl.ts, cluster-crawl.ts
//   client.ts    client.call('pages', { crawl, host, text }) ─▶ typed answer
//
// Methods and paths alone are in paths.ts: what a browser loads has its types from here, and no zod.

import { z } from 'zod'
import { CRAWL_STATES, PATHS, type RouteName, type RoutePath } from './paths.ts'

export { CRAWL_STATES, type CrawlState, type RouteName } from './paths.ts'

// ── Words ───────────────────────────────────────────────────────────────────────────────────────

const count = z.number().int().min(0)
const counts = z.record(z.string(), z.number())
const text = z.string()
/** ISO 8601, UTC. */
const moment = z.string()

/** Pages of long lists: `next` is where the following part begins, null at the end. */
const listed = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: text.nullable(), total: count.nullable() })
/** Of the catalogue, with how far it has read: below 1 there is more than it knows of. */
const catalogued = <T extends z.ZodType>(item: T) => listed(item).extend({ readShare: z.number() })
const part = { after: text.optional(), limit: z.coerce.number<number | string>().int().min(1).max(500).default(100) }

// ── Figures ─────────────────────────────────────────────────────────────────────────────────────

export const figuresSchema = z.object({
  pages: count,
  failed: count,
  failures: counts,
  answers: counts,
  skipped: counts,
  refused: counts,
  bytes: count,
  wireBytes: count,
  seconds: z.number(),
  hosts: count,
  urlsSeen: count,
  waiting: count,
  cpuSeconds: z.number(),
  peakRssBytes: count,
})

/** Of a crawl that runs, at this moment. */
export const nowSchema = z.object({
  /** Over the last ten seconds. */
  pagesPerSecond: z.number(),
  bytesPerSecond: z.number(),
  /** Requests under way. */
  active: count,
  hostsReady: count,
  hostsResting: count,
  rssBytes: count,
  cpuShare: z.number(),
  /** What stands in the way of more, in a sentence: 'every host rests', 'the processor is busy', '--max-rate' … */
  slow: text,
})

/** What a crawl is held to; null: no limit. */
export const limitsSchema = z.object({
  /** In all, over every run. Of the run that is on, or of the last one: the next start has them too unless it is told others. */
  maxPages: count.nullable(),
  maxTimeMs: z.number().nullable(),
  /** Of the crawl as a whole, until they are changed. */
  connections: count,
  ratePerSecond: z.number().nullable(),
  bytesPerSecond: z.number().nullable(),
})

export const crawlSchema = z.object({
  /** Its name in paths of this API. */
  id: text,
  name: text,
  dir: text,
  state: z.enum(CRAWL_STATES),
  /** Why the last run ended; null while it runs or where nothing is known. */
  stoppedBecause: text.nullable(),
  startedAt: moment.nullable(),
  agents: count,
  figures: figuresSchema,
  now: nowSchema.nullable(),
  /** Left out where nodes of a cluster have their own. */
  limits: limitsSchema.optional(),
  /** Null on one machine. `change`: the number of its last change, and how many shares have yet to take it in. */
  cluster: z.object({ crawl: text, nodes: count, change: count.optional(), sharesBehind: count.optional() }).nullable(),
  /** What this server may do with it: a copy on another machine's disk can only be looked at. */
  can: z.array(z.enum(['start', 'pause', 'resume', 'stop', 'checkpoint', 'seed', 'set', 'nodes'])),
})
export type CrawlInfo = z.infer<typeof crawlSchema>

export const sampleSchema = z.object({
  t: z.number(),
  pages: count,
  bytes: count,
  failed: count,
  skipped: count,
  waiting: count,
  hosts: count,
  active: count,
  rssBytes: count,
  cpuSeconds: z.number(),
})

// ── Things of a crawl ───────────────────────────────────────────────────────────────────────────

export const hostSchema = z.object({
  host: text,
  pages: count,
  errors: count,
  bytes: count,
  /** To the first byte, over its pages, where the catalogue says it. */
  meanMs: z.number().optional(),
  /** What is known only of a crawl that runs is null in one that does not. */
  waiting: count.nullable(),
  state: z.enum(['ready', 'resting', 'parked', 'out', 'idle']).nullable(),
  /** Until when it rests. */
  restUntil: moment.nullable(),
})

export const hostDetailSchema = hostSchema.extend({
  address: text.nullable(),
  /** Between two requests, and where that comes from. */
  restMs: z.number().nullable(),
  restBecause: z.array(text),
  robots: z.object({ answer: text, fetchedAt: moment, crawlDelayMs: z.number().nullable() }).nullable(),
  statuses: counts,
  types: counts,
  failures: counts,
  skipped: counts,
  /** Pages it may still have by --max-pages-per-host; null without such a limit. */
  budgetLeft: count.nullable(),
})

export const pageSchema = z.object({
  /** Where it stands in the catalogue: what `after` takes. */
  at: text,
  url: text,
  status: count,
  type: text.nullable(),
  title: text.nullable(),
  bytes: count,
  depth: count,
  fetchedAt: moment,
  durationMs: z.number(),
  duplicateOf: text.nullable(),
})

export const failureSchema = z.object({
  at: text,
  url: text,
  kind: z.enum(['failed', 'skipped']),
  reason: text,
  detail: text,
  depth: count,
  via: text.nullable(),
  when: moment,
})

/** A page that answers with an error, or a URL that failed, and who links to it. */
export const brokenSchema = z.object({
  at: text,
  url: text,
  /** The status, or the code of the failure. */
  outcome: text,
  /** How many pages are known to link to it, and the first few. */
  linkedFrom: z.object({ count, pages: z.array(text) }),
})

export const agentSchema = z.object({
  agent: count,
  node: text.nullable(),
  pages: count,
  failed: count,
  waiting: count,
  hosts: count,
  active: count,
  /** Requests that may be under way, and why not more. */
  limit: count,
  bottleneck: text,
  /** In a cluster: the last change of the crawl that it has taken in. */
  change: count.optional(),
  speed: z.object({
    connections: count,
    ratePerSecond: z.number().nullable(),
    bytesPerSecond: z.number().nullable(),
  }),
})

export const nodeSchema = z.object({
  node: text,
  state: z.enum(['working', 'draining', 'drained', 'silent', 'gone']),
  host: text,
  version: text,
  weight: z.number(),
  shares: z.array(count),
  pages: count,
  waiting: count,
  active: count,
  rssBytes: count,
  cpuSeconds: z.number(),
  lastBeatMs: z.number().nullable(),
  /** What its process did itself, whatever its shares had done before. */
  donePages: count.optional(),
  doneBytes: count.optional(),
})

export const archiveFileSchema = z.object({
  name: text,
  bytes: count,
  isOpen: z.boolean(),
  /** Where it was sent, where it was. */
  shipped: text.nullable(),
  modifiedAt: moment,
})

/** Something that happened, for people. Kept in state/events.jsonl, bounded. */
export const eventSchema = z.object({
  number: count,
  at: moment,
  /** 'crawl', 'agent', 'node', 'share', 'change', 'warning', 'fault', 'trace'. */
  kind: text,
  text,
})
export type CrawlEvent = z.infer<typeof eventSchema>

/** Who changed what: kept in state/changes.jsonl. */
export const changeSchema = z.object({
  number: count,
  at: moment,
  /** 'dashboard', 'api', 'command line', 'cluster'; and from where, if it came over a network. */
  who: text,
  what: text,
  /** Options by section, or the arguments of the call. */
  detail: z.record(z.string(), z.unknown()),
})

/** Options as in a configuration file: { url: { exclude: ['/private/'] }, frontier: { delay: '5s' } }. null: as usual again. */
export const optionsSchema = z.record(text, z.record(text, z.unknown()))

export const settingSchema = z.object({
  /** 'frontier.delay' */
  name: text,
  section: text,
  key: text,
  flag: text.nullable(),
  text,
  /** As JSON; what is secret is withheld. */
  value: z.unknown(),
  usual: z.unknown(),
  /** The same in words: 'one per processor'. */
  usualText: text,
  isSaid: z.boolean(),
  /** 'now': while it runs. 'anew': the crawl is opened anew, which takes seconds and loses nothing. 'never': fixed when it began. */
  takesEffect: z.enum(['now', 'anew', 'never']),
  /** JSON schema of its values. */
  schema: z.unknown(),
})

/** What a change would do to what waits. */
export const previewSchema = z.object({
  waiting: count,
  /** URLs that wait now and would be skipped. */
  hit: count,
  /** By reason: 'excluded', 'out-of-scope' … */
  reasons: counts,
  /** A few of them. */
  examples: z.array(text),
  /** False: the look was cut off after some seconds, and it is at least so many. */
  isComplete: z.boolean(),
  takesEffect: z.enum(['now', 'anew']),
})

/** M14: of the whole crawl, counted as pages come. */
export const statisticsSchema = z.object({
  statuses: counts,
  types: counts,
  /** Pages by size: [upper bound in bytes, pages]. */
  sizes: z.array(z.tuple([z.number(), count])),
  /** Pages and duplicates. */
  duplicates: count,
  /** Hosts and pages per top-level domain, the largest first. */
  topLevelDomains: z.array(z.object({ name: text, hosts: count, pages: count })),
  servers: counts,
  languages: counts,
  depths: counts,
  /** How far the catalogue has read: 1 is all. */
  readShare: z.number(),
})

// ── Routes ──────────────────────────────────────────────────────────────────────────────────────

const crawlPath = z.object({ crawl: text })
const nothing = z.object({})
const done = z.object({ text })

interface Route extends RoutePath {
  readonly text: string
  /** Path and query together; names do not overlap. */
  readonly params: z.ZodType
  readonly body: z.ZodType | null
  readonly answer: z.ZodType
}

const route = <P extends z.ZodType, B extends z.ZodType | null, A extends z.ZodType>(
  { method, path }: RoutePath,
  what: string,
  params: P,
  body: B,
  answer: A,
) => ({ method, path, text: what, params, body, answer }) as const

export const ROUTES = {
  crawls: route(
    PATHS.crawls,
    'All crawls this server knows',
    nothing,
    null,
    z.object({ crawls: z.array(crawlSchema) }),
  ),
  create: route(
    PATHS.create,
    'Begins a crawl in a directory of its own',
    nothing,
    z.object({ name: text.optional(), seeds: z.array(text).min(1), options: optionsSchema.default({}) }),
    crawlSchema,
  ),
  crawl: route(PATHS.crawl, 'How a crawl stands', crawlPath, null, crawlSchema),
  start: route(
    PATHS.start,
    'Goes on with a crawl that is not running, under the limits of its last run or others',
    crawlPath,
    z.object({ options: optionsSchema.default({}) }),
    done,
  ),
  pause: route(PATHS.pause, 'Asks nobody from now on; what is under way ends', crawlPath, nothing, done),
  resume: route(PATHS.resume, 'Goes on after a pause', crawlPath, nothing, done),
  stop: route(PATHS.stop, 'Ends the run cleanly', crawlPath, nothing, done),
  checkpoint: route(
    PATHS.checkpoint,
    'Makes a consistent copy to start from later',
    crawlPath,
    z.object({ to: text.optional() }),
    z.object({ to: text, bytes: count, files: count }),
  ),
  addSeeds: route(
    PATHS.addSeeds,
    'Adds seeds',
    crawlPath,
    z.object({ seeds: z.array(text).min(1).max(10_000) }),
    z.object({ added: count, known: count, problems: z.array(z.object({ where: text, what: text })) }),
  ),
  timeline: route(
    PATHS.timeline,
    'Its course, in at most 2,000 samples',
    crawlPath,
    null,
    z.object({ samples: z.array(sampleSchema) }),
  ),
  hosts: route(
    PATHS.hosts,
    'Hosts',
    crawlPath.extend({
      ...part,
      text: text.optional(),
      sort: z.enum(['pages', 'errors', 'bytes', 'time', 'waiting', 'host']).default('pages'),
    }),
    null,
    catalogued(hostSchema),
  ),
  host: route(PATHS.host, 'One host', crawlPath.extend({ host: text }), null, hostDetailSchema),
  pages: route(
    PATHS.pages,
    'Pages, the newest first',
    crawlPath.extend({
      ...part,
      host: text.optional(),
      status: z.coerce.number<number | string>().int().optional(),
      type: text.optional(),
      /** Words of the title, or of the URL where it has none; all must be there, the last may be a beginning. */
      text: text.optional(),
    }),
    null,
    catalogued(pageSchema),
  ),
  failures: route(
    PATHS.failures,
    'URLs that failed or were skipped, the newest first',
    crawlPath.extend({
      ...part,
      kind: z.enum(['failed', 'skipped']).optional(),
      reason: text.optional(),
      host: text.optional(),
    }),
    null,
    catalogued(failureSchema),
  ),
  broken: route(
    PATHS.broken,
    'Broken links, with who links to them',
    crawlPath.extend({ ...part, host: text.optional() }),
    null,
    catalogued(brokenSchema),
  ),
  explain: route(
    PATHS.explain,
    'All that is known of a URL',
    crawlPath.extend({ url: text }),
    null,
    z.record(text, z.unknown()),
  ),
  trace: route(
    PATHS.trace,
    'Follows one URL through the crawl from now on, in events',
    crawlPath,
    z.object({ url: text }),
    done,
  ),
  statistics: route(PATHS.statistics, 'What the web is like that was met', crawlPath, null, statisticsSchema),
  settings: route(
    PATHS.settings,
    'Every option with its value and when a change takes effect',
    crawlPath,
    null,
    z.object({ settings: z.array(settingSchema) }),
  ),
  preview: route(
    PATHS.preview,
    'How many waiting URLs a change would skip',
    crawlPath,
    z.object({ options: optionsSchema }),
    previewSchema,
  ),
  set: route(
    PATHS.set,
    'Changes options',
    crawlPath,
    z.object({ options: optionsSchema }),
    z.object({ takesEffect: z.enum(['now', 'anew', 'next run']), text }),
  ),
  speed: route(
    PATHS.speed,
    'Other limits from now on, of the crawl or of one of its agents; null: none',
    crawlPath,
    z.object({
      agent: count.optional(),
      node: text.optional(),
      connections: z.number().int().min(1).optional(),
      ratePerSecond: z.number().positive().nullable().optional(),
      bytesPerSecond: z.number().positive().nullable().optional(),
    }),
    done,
  ),
  agents: route(PATHS.agents, 'Its agents', crawlPath, null, z.object({ agents: z.array(agentSchema) })),
  nodes: route(
    PATHS.nodes,
    'Nodes of its cluster',
    crawlPath,
    null,
    z.object({ shares: count, nodes: z.array(nodeSchema) }),
  ),
  nodeAction: route(
    PATHS.nodeAction,
    'Drains, brings back or removes a node',
    crawlPath.extend({ node: text, action: z.enum(['drain', 'resume', 'remove']) }),
    nothing,
    done,
  ),
  nodeWeight: route(
    PATHS.nodeWeight,
    'Gives a node another weight',
    crawlPath.extend({ node: text }),
    z.object({ weight: z.number().positive().max(1_000) }),
    done,
  ),
  archive: route(PATHS.archive, 'Files of the archive', crawlPath.extend(part), null, listed(archiveFileSchema)),
  events: route(PATHS.events, 'What happened, the newest first', crawlPath.extend(part), null, listed(eventSchema)),
  changes: route(
    PATHS.changes,
    'Who changed what, the newest first',
    crawlPath.extend(part),
    null,
    listed(changeSchema),
  ),
} as const satisfies Record<RouteName, Route>

export type ParamsOf<N extends RouteName> = z.input<(typeof ROUTES)[N]['params']>
export type BodyOf<N extends RouteName> = (typeof ROUTES)[N]['body'] extends z.ZodType
  ? z.input<NonNullable<(typeof ROUTES)[N]['body']>>
  : undefined
export type AnswerOf<N extends RouteName> = z.output<(typeof ROUTES)[N]['answer']>

/** What went wrong: { error: { code, message, fields } }; `fields` names each that is wrong and says why. */
export const errorSchema = z.object({
  error: z.object({ code: text, message: text, fields: z.array(z.object({ where: text, what: text })).optional() }),
})
