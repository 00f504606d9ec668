// The door. Light: what checks and serves (zod, fastify) is loaded when somebody asks, so that a crawl nobody looks at never loads it.

export { CRAWL_STATES, type CrawlState, LIVE_PATH, PATHS, type RouteName } from './paths.ts'
export type { AnswerOf, BodyOf, CrawlEvent, CrawlInfo, ParamsOf } from './api.ts'
export type { Asked, Asker, CrawlAnswers, CrawlRoute, CrawlSource, CrawlSources } from './crawl-source.ts'
export { type ControlClient, ControlError, createClient, fetchTransport } from './client.ts'
export { socketTransport } from './socket-transport.ts'
export type { ControlServer, ServerOptions } from './server.ts'

/** `const { createServer } = await loadServer()` */
export const loadServer = () => import('./server.ts')
