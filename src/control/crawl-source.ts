// A crawl as the API sees it, whatever it is: one that runs in this process, one at rest in a directory, one in another process, or one
// of a cluster. What a source cannot do it refuses with a Fault that says why (`can` in its CrawlInfo says it before).

import type { z } from 'zod'
import type { AnswerOf, CrawlEvent, CrawlInfo, ROUTES, RouteName } from './api.ts'

/** The routes that a crawl answers itself. */
export type CrawlRoute = Exclude<RouteName, 'crawls' | 'create'>

/** Params and body of a route together, checked, without the name of the crawl. */
export type Asked<N extends RouteName> = Omit<z.output<(typeof ROUTES)[N]['params']>, 'crawl'> &
  ((typeof ROUTES)[N]['body'] extends z.ZodType ? z.output<NonNullable<(typeof ROUTES)[N]['body']>> : unknown)

/** Who asks, for the record of changes. */
export interface Asker {
  readonly who: string
}

export type CrawlAnswers = {
  readonly [N in CrawlRoute]: (asked: Asked<N>, asker: Asker) => Promise<AnswerOf<N>>
}

export interface CrawlSource extends CrawlAnswers {
  readonly id: string
  /** Called with what changes, until the function it gives is called. */
  watch(onInfo: (info: CrawlInfo) => void, onEvent: (event: CrawlEvent) => void): () => void
  /** In the text format of Prometheus. */
  metrics(): Promise<string>
}

/** What a server serves. */
export interface CrawlSources {
  list(): Promise<readonly CrawlSource[]>
  find(id: string): Promise<CrawlSource | null>
  /** Null where crawls cannot be begun here. */
  readonly create: ((asked: Asked<'create'>, asker: Asker) => Promise<CrawlSource>) | null
}
