import { z } from 'zod'
import { choice, count, limit, patterns, shaped, texts } from '../base/options.ts'
import { URL_LENGTH_DEFAULT } from './canonicalise.ts'
import { hostText, urlFilterSchema } from './url-filter-schema.ts'

/** Which URLs the crawl may visit. */
export const urlOptions = z.strictObject({
  scope: choice(['host', 'domain', 'prefix', 'any'], 'host', {
    text: 'How far from the seeds links are followed: their hosts, their registrable domains, their directories, or anywhere.',
    flag: 'scope',
  }),
  include: patterns({ text: 'Follow only links whose URL matches one of these.', flag: 'include' }),
  exclude: patterns({ text: 'Never visit a URL that matches one of these, seeds not excepted.', flag: 'exclude' }),
  block: shaped(
    z.array(hostText).default([]),
    {
      text: 'Never visit these hosts and domains, with all that lies in them, seeds not excepted: a black list.',
      flag: 'block',
      placeholder: 'DOMAIN',
    },
    'none',
  ),
  maxDepth: limit(
    { text: 'How many links away from a seed a page may be; 0 visits the seeds alone.', flag: 'max-depth' },
    0,
  ),
  pathDepth: limit({ text: 'How many directories deep a path may be.' }, 0),
  urlLength: count(
    URL_LENGTH_DEFAULT,
    { text: 'The longest URL accepted, in characters of its canonical form.' },
    { min: 64, max: 65_536 },
  ),
  sessionIds: texts({ text: 'Names of query and path parameters to drop from every URL, like PHPSESSID.' }),
  filter: shaped(
    urlFilterSchema.nullable().default(null),
    {
      text: 'A rule over domain, host, prefix, protocol, extension and pattern, joined by all, any and not, that every URL must pass.',
    },
    'none',
  ),
})

export type UrlOptions = z.infer<typeof urlOptions>
