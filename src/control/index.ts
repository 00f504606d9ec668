// The door. Light: what checks and serves (zod, fastify) is loaded when somebody asks, so that a crawl nobody looks at never loads it.

export { CRAWL_STATES, type CrawlState, LIVE_PATH, PATHS, type RouteName } from './paths.ts'
export type { AnswerOf, BodyOf, CrawlEvent, CrawlInfo, ParamsOf } from './api.ts'
export type { Asked, Asker, CrawlAnswers, CrawlRoute, CrawlSource, CrawlSources } from './crawl-source.ts'
export { type ControlClient, ControlError, createClient, fetchTransport, type Transport } from './client.ts'
export { idOf as crawlIdOf } from './crawl-id.ts'
export { controlSocketOf } from './control-note.ts'
export { socketTransport } from './socket-transport.ts'
export type { ControlServer, ServerOptions } from './server.ts'

export { type Change, ChangeLog, readChanges } from './change-log.ts'
export { type ConnectionTaker, ControlSocket } from './control-socket.ts'
export { type EventKind, EventLog, readEvents } from './event-log.ts'
export { type KeptSteering, loadSteering, NOT_STEERED, SPEED_OPTIONS, storeSteering } from './kept-steering.ts'
export { dropPendingSeeds, keepPendingSeeds, loadPendingSeeds } from './pending-seeds.ts'
export type { Moment, OtherOptions, SaidOptions, SteeredCrawl, SteeredNode } from './steered-crawl.ts'

/** `const cluster = await (await loadClusterCrawl()).ClusterCrawl.open(engineSettings)` */
export const loadClusterCrawl = () => import('./cluster-crawl.ts')

/** `const { limitsAtRest } = await loadNextRun()` */
export const loadNextRun = () => import('./next-run.ts')
/** `const { checkChange } = await loadOptionChanges()` */
export const loadOptionChanges = () => import('./option-changes.ts')

/** What a node answers for others in its cluster. */
export const loadNodeAnswers = () => import('./node-answers.ts')

/** The crawl of a directory, whoever works in it. */
export const loadDirectoryCrawl = () => import('./directory-crawl.ts')

/** `const { RunningCrawl } = await loadRunningCrawl()` */
export const loadRunningCrawl = async () => ({
  ...(await import('./running-crawl.ts')),
  ...(await import('./node-records.ts')),
})

/** `const { createServer } = await loadServer()` */
export const loadServer = () => import('./server.ts')

export type { CrawlStarter, NewCrawl } from './directory-sources.ts'

/** `const { DirectorySources, makeToken } = await loadSources()` */
export const loadSources = async () => ({ ...(await import('./directory-sources.ts')), ...(await import('./auth.ts')) })
