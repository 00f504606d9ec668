// Where each route of the control API is: method and path by name. No more than that, so that the client (client.ts) can be loaded by
// a browser without what checks requests; api.ts says what each takes and gives.

/** `paused`: its process runs, and asks nobody. `stopped`: no process, and something waits. `finished`: nothing waits. */
export const CRAWL_STATES = ['starting', 'running', 'paused', 'stopping', 'stopped', 'finished'] as const
export type CrawlState = (typeof CRAWL_STATES)[number]

export interface RoutePath {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** `:name` is a part of the path that a param gives. */
  readonly path: string
}

const C = '/api/crawls/:crawl'

export const PATHS = {
  crawls: { method: 'GET', path: '/api/crawls' },
  create: { method: 'POST', path: '/api/crawls' },
  crawl: { method: 'GET', path: C },
  start: { method: 'POST', path: `${C}/start` },
  pause: { method: 'POST', path: `${C}/pause` },
  resume: { method: 'POST', path: `${C}/resume` },
  stop: { method: 'POST', path: `${C}/stop` },
  checkpoint: { method: 'POST', path: `${C}/checkpoint` },
  addSeeds: { method: 'POST', path: `${C}/seeds` },
  timeline: { method: 'GET', path: `${C}/timeline` },
  hosts: { method: 'GET', path: `${C}/hosts` },
  host: { method: 'GET', path: `${C}/hosts/:host` },
  pages: { method: 'GET', path: `${C}/pages` },
  failures: { method: 'GET', path: `${C}/failures` },
  broken: { method: 'GET', path: `${C}/broken` },
  explain: { method: 'GET', path: `${C}/explain` },
  trace: { method: 'POST', path: `${C}/trace` },
  statistics: { method: 'GET', path: `${C}/statistics` },
  settings: { method: 'GET', path: `${C}/settings` },
  preview: { method: 'POST', path: `${C}/settings/preview` },
  set: { method: 'PATCH', path: `${C}/settings` },
  speed: { method: 'PATCH', path: `${C}/speed` },
  agents: { method: 'GET', path: `${C}/agents` },
  nodes: { method: 'GET', path: `${C}/nodes` },
  nodeAction: { method: 'POST', path: `${C}/nodes/:node/:action` },
  nodeWeight: { method: 'PATCH', path: `${C}/nodes/:node` },
  archive: { method: 'GET', path: `${C}/archive` },
  events: { method: 'GET', path: `${C}/events` },
  changes: { method: 'GET', path: `${C}/changes` },
} as const satisfies Record<string, RoutePath>

export type RouteName = keyof typeof PATHS

/**
 * Beside the table, for they are no JSON: GET /api/crawls/:crawl/live (server-sent events: `crawl` with a CrawlInfo once a second while
 * something changes, `event` with a CrawlEvent), GET /metrics (Prometheus), GET /api/openapi.json, and the dashboard's files.
 */
export const LIVE_PATH = `${C}/live`
