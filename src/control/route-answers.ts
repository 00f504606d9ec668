// All answers of a crawl by one function, for sources that only pass questions on.

import { PATHS } from './paths.ts'
import type { Asker, CrawlAnswers, CrawlRoute } from './crawl-source.ts'

/** Past the types: what is asked was checked by the schemas they come from. */
export type AnswerAny = (name: CrawlRoute, asked: Readonly<Record<string, unknown>>, asker: Asker) => Promise<unknown>

export const CRAWL_ROUTES = Object.keys(PATHS).filter((name) => name !== 'crawls' && name !== 'create') as CrawlRoute[]

export function answersBy(answer: AnswerAny): CrawlAnswers {
  const answers = CRAWL_ROUTES.map((name) => [
    name,
    (asked: Readonly<Record<string, unknown>>, asker: Asker) => answer(name, asked, asker),
  ])
  return Object.fromEntries(answers) as CrawlAnswers
}
