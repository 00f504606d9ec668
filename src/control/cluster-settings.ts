// The options of a crawl of a cluster: as they were said when it was set up, for all nodes and for good.

import type { CrawlDefinition } from '../cluster/index.ts'
import { optionRows, SECTIONS } from '../config/index.ts'
import type { AnswerOf } from './api.ts'

/** Never in a definition (cluster-access.ts refuses them); withheld all the same. */
const SECRET = new Set(['fetch.logins', 'fetch.headers', 'fetch.proxy'])

export function clusterSettings({ settings }: CrawlDefinition): AnswerOf<'settings'> {
  const said = (settings ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  return {
    settings: optionRows(SECTIONS).map(({ section, key, facts }) => {
      const name = `${section}.${key}`
      const value = said[section]?.[key]
      return {
        name,
        section,
        key,
        flag: facts.flag ?? null,
        text: facts.text,
        value: value === undefined ? facts.defaultText : SECRET.has(name) ? '[withheld]' : value,
        usual: facts.defaultText,
        isSaid: value !== undefined,
        takesEffect: 'never' as const,
        schema: null,
      }
    }),
  }
}
