// Every number that a crawl says of itself, by its one name: in crawl.json, `status --json`, the timeline, the API, logs and metrics.
//
//   FIGURES ──▶ Prometheus names (src/control/metrics.ts) ──▶ docs/grafana-dashboard.json
//           ├─▶ docs/metrics.md, docs/vocabulary.json
//           ╰─▶ what people read beside a number: `portolan top`, the dashboard
//
// Data only, and it imports nothing: the dashboard loads it as it is.

type FigureUnit = 'count' | 'bytes' | 'seconds' | 'milliseconds' | 'per second' | 'bytes per second' | 'share'

/** What a number may be said of. Metrics of agents and nodes carry their number or name beside that of the crawl. */
export const FIGURE_SCOPES = ['crawl', 'agent', 'node'] as const
export type FigureScope = (typeof FIGURE_SCOPES)[number]

export interface Figure {
  /** In front of the number, for people. */
  readonly label: string
  readonly unit: FigureUnit
  /** A counter only grows while the crawl lasts; a gauge is of the moment. */
  readonly kind: 'counter' | 'gauge'
  readonly text: string
  /** Its name in Prometheus, after `portolan_` and its scope; null: not among the metrics. */
  readonly metric: string | null
  /** Of what it is told in metrics. */
  readonly of: readonly FigureScope[]
  /** Counted apart by these; what they may be is bounded by the tables of vocabulary.ts. */
  readonly by?: 'code' | 'class' | 'reason'
  /** Several figures may be one metric, told apart by a state. */
  readonly state?: string
}

const CRAWL = ['crawl'] as const
const CRAWL_AND_AGENT = ['crawl', 'agent'] as const
const EVERYWHERE = FIGURE_SCOPES

export const FIGURES = {
  // ── Since the crawl began, over all its runs ──
  pages: {
    label: 'Pages',
    unit: 'count',
    kind: 'counter',
    text: 'answers that were kept, whatever their status',
    metric: 'pages_total',
    of: CRAWL_AND_AGENT,
  },
  answers: {
    label: 'Answers',
    unit: 'count',
    kind: 'counter',
    text: 'pages by class of their status; `unchanged` are those asked for again that are as they were (304)',
    metric: 'answers_total',
    of: CRAWL,
    by: 'class',
  },
  failed: {
    label: 'Failed',
    unit: 'count',
    kind: 'counter',
    text: 'URLs that were given up',
    metric: 'failed_total',
    of: CRAWL_AND_AGENT,
  },
  failures: {
    label: 'Failures',
    unit: 'count',
    kind: 'counter',
    text: 'URLs that were given up, by code',
    metric: 'failures_total',
    of: CRAWL,
    by: 'code',
  },
  skipped: {
    label: 'Skipped',
    unit: 'count',
    kind: 'counter',
    text: 'URLs that were met and not fetched or kept by our own choice, by reason',
    metric: 'skipped_total',
    of: CRAWL,
    by: 'reason',
  },
  refused: {
    label: 'Refused',
    unit: 'count',
    kind: 'counter',
    text: 'links turned away before they counted as seen, by reason',
    metric: 'refused_total',
    of: CRAWL,
    by: 'reason',
  },
  bytes: {
    label: 'Bytes',
    unit: 'bytes',
    kind: 'counter',
    text: 'bodies of pages, decoded',
    metric: 'bytes_total',
    of: CRAWL,
  },
  wireBytes: {
    label: 'Bytes received',
    unit: 'bytes',
    kind: 'counter',
    text: 'bodies of pages as they came over the network',
    metric: 'wire_bytes_total',
    of: CRAWL,
  },
  seconds: {
    label: 'Time',
    unit: 'seconds',
    kind: 'counter',
    text: 'for how long it was crawled',
    metric: 'seconds_total',
    of: CRAWL,
  },
  t: {
    label: 'Time',
    unit: 'seconds',
    kind: 'counter',
    text: 'of a sample: seconds of crawling before it',
    metric: null,
    of: [],
  },
  urlsSeen: {
    label: 'URLs seen',
    unit: 'count',
    kind: 'counter',
    text: 'pages, failed, skipped and waiting together',
    metric: 'urls_seen_total',
    of: CRAWL,
  },
  cpuSeconds: {
    label: 'Processor',
    unit: 'seconds',
    kind: 'counter',
    text: 'processor time; of a node: of its present process',
    metric: 'cpu_seconds_total',
    of: ['crawl', 'node'],
  },
  restarts: {
    label: 'Restarts',
    unit: 'count',
    kind: 'counter',
    text: 'how often an agent broke and was started again, in this run',
    metric: 'restarts_total',
    of: CRAWL,
  },
  batch: {
    label: 'Batches',
    unit: 'count',
    kind: 'counter',
    text: 'batches that were committed',
    metric: null,
    of: [],
  },

  // ── Of this moment ──
  waiting: {
    label: 'Waiting',
    unit: 'count',
    kind: 'gauge',
    text: 'URLs that were met and have no verdict yet',
    metric: 'waiting_urls',
    of: EVERYWHERE,
  },
  onTheirWay: {
    label: 'On their way',
    unit: 'count',
    kind: 'gauge',
    text: 'links that one agent found and another has not taken yet: they wait, and are in no other figure',
    metric: null,
    of: [],
  },
  hosts: {
    label: 'Hosts',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that were met',
    metric: 'hosts',
    of: CRAWL_AND_AGENT,
  },
  hostsReady: {
    label: 'Hosts ready',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that may be asked now',
    metric: 'hosts_by_state',
    of: CRAWL,
    state: 'ready',
  },
  hostsResting: {
    label: 'Hosts resting',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that have something waiting and rest after an answer',
    metric: 'hosts_by_state',
    of: CRAWL,
    state: 'resting',
  },
  hostsParked: {
    label: 'Hosts parked',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that wait for their address or domain to be free',
    metric: 'hosts_by_state',
    of: CRAWL,
    state: 'parked',
  },
  hostsOut: {
    label: 'Hosts asked',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that are being asked',
    metric: 'hosts_by_state',
    of: CRAWL,
    state: 'out',
  },
  active: {
    label: 'Requests',
    unit: 'count',
    kind: 'gauge',
    text: 'requests under way',
    metric: 'active_requests',
    of: EVERYWHERE,
  },
  pagesPerSecond: {
    label: 'Pages per second',
    unit: 'per second',
    kind: 'gauge',
    text: 'over the last ten seconds',
    metric: 'pages_per_second',
    of: CRAWL,
  },
  bytesPerSecond: {
    label: 'Bytes per second',
    unit: 'bytes per second',
    kind: 'gauge',
    text: 'over the last ten seconds',
    metric: 'bytes_per_second',
    of: CRAWL,
  },
  rssBytes: {
    label: 'Memory',
    unit: 'bytes',
    kind: 'gauge',
    text: 'memory of its process; of a cluster that of all nodes',
    metric: 'rss_bytes',
    of: ['crawl', 'node'],
  },
  peakRssBytes: {
    label: 'Memory at most',
    unit: 'bytes',
    kind: 'gauge',
    text: 'the most memory one of its processes has taken',
    metric: 'peak_rss_bytes',
    of: CRAWL,
  },
  cpuShare: {
    label: 'Processor share',
    unit: 'share',
    kind: 'gauge',
    text: 'processor time per time: 1 is one processor',
    metric: 'cpu_share',
    of: CRAWL,
  },
  agents: { label: 'Agents', unit: 'count', kind: 'gauge', text: 'agents it has', metric: 'agents', of: CRAWL },
  nodes: {
    label: 'Nodes',
    unit: 'count',
    kind: 'gauge',
    text: 'nodes that take part, of a cluster',
    metric: 'nodes',
    of: CRAWL,
  },
  shares: {
    label: 'Shares',
    unit: 'count',
    kind: 'gauge',
    text: 'parts the crawl is cut in; of a node those it has',
    metric: 'shares',
    of: ['crawl', 'node'],
  },
  readShare: {
    label: 'Catalogue',
    unit: 'share',
    kind: 'gauge',
    text: 'how far the catalogue has read: 1 is all',
    metric: 'catalogue_read_share',
    of: CRAWL,
  },

  // ── How fast it may go ──
  limit: {
    label: 'Requests allowed',
    unit: 'count',
    kind: 'gauge',
    text: 'requests that may be under way now',
    metric: 'requests_limit',
    of: ['agent'],
  },
  'speed.connections': {
    label: 'Connections',
    unit: 'count',
    kind: 'gauge',
    text: 'requests that may be under way at most, as it was set',
    metric: 'connections_limit',
    of: ['agent'],
  },
  'speed.ratePerSecond': {
    label: 'Rate limit',
    unit: 'per second',
    kind: 'gauge',
    text: 'requests per second, as it was set; absent where there is no limit',
    metric: 'requests_per_second_limit',
    of: ['agent'],
  },
  'speed.bytesPerSecond': {
    label: 'Byte limit',
    unit: 'bytes per second',
    kind: 'gauge',
    text: 'bytes per second, as it was set; absent where there is no limit',
    metric: 'bytes_per_second_limit',
    of: ['agent'],
  },

  // ── Of a node ──
  donePages: {
    label: 'Pages done',
    unit: 'count',
    kind: 'counter',
    text: 'pages that this node has fetched since it was started, wherever their shares are now',
    metric: 'done_pages_total',
    of: ['node'],
  },
  doneBytes: {
    label: 'Bytes done',
    unit: 'bytes',
    kind: 'counter',
    text: 'the bytes of these pages',
    metric: 'done_bytes_total',
    of: ['node'],
  },
  weight: {
    label: 'Weight',
    unit: 'count',
    kind: 'gauge',
    text: 'its capacity in relation to the others',
    metric: 'weight',
    of: ['node'],
  },
  lastBeatMs: {
    label: 'Last beat',
    unit: 'milliseconds',
    kind: 'gauge',
    text: 'since its last sign of life',
    metric: 'last_beat_seconds',
    of: ['node'],
  },

  // ── Of hosts, files and single pages: in the API and in files, too many for metrics ──
  errors: {
    label: 'Errors',
    unit: 'count',
    kind: 'counter',
    text: 'of a host: failed URLs and pages with a status of 400 and above',
    metric: null,
    of: [],
  },
  meanMs: {
    label: 'Mean time',
    unit: 'milliseconds',
    kind: 'gauge',
    text: 'of a host: how long an answer took on average',
    metric: null,
    of: [],
  },
  paused: {
    label: 'Hosts paused',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that asked for a pause which is not over',
    metric: null,
    of: [],
  },
  learnt: {
    label: 'Hosts slowed',
    unit: 'count',
    kind: 'gauge',
    text: 'hosts that are asked slower than configured since they said 429 or 503',
    metric: null,
    of: [],
  },
  files: { label: 'Files', unit: 'count', kind: 'gauge', text: 'files on disk', metric: null, of: [] },
} as const satisfies Record<string, Figure>

export type FigureName = keyof typeof FIGURES

/** `pages` of an agent: `portolan_agent_pages_total`; null where it is not among the metrics of that scope. */
export function metricName(name: FigureName, scope: FigureScope): string | null {
  const { metric, of }: Figure = FIGURES[name]
  if (metric === null || !of.includes(scope)) return null
  return `portolan_${scope === 'crawl' ? '' : `${scope}_`}${metric}`
}
