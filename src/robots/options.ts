import { z } from 'zod'
import { OPT_OUTS, type OptOut } from '../base/index.ts'
import { choice, count, duration, shaped, size } from '../base/options.ts'
import { OPT_OUT_ACTIONS, PURPOSES } from './opt-out-policy.ts'

const DAY_MS = 24 * 3_600_000

export const robotsOptions = z.strictObject({
  robots: choice(['obey', 'ignore'], 'obey', {
    text: 'Whether robots.txt, robots metas and X-Robots-Tag are obeyed.',
    flag: 'robots',
  }),
  sitemaps: choice(['ignore', 'follow'], 'ignore', {
    text: 'Whether sitemaps named in robots.txt bring URLs. Without them a crawl is what its links reach.',
    flag: 'sitemaps',
  }),
  purpose: choice(PURPOSES, 'archive', {
    text: 'What the crawl is for. Sites say what their pages must not be used for; `ai` is training and feeding models, and mining text and data.',
    flag: 'purpose',
  }),
  optOuts: shaped(
    z.partialRecord(z.enum(Object.keys(OPT_OUTS) as [OptOut, ...OptOut[]]), z.enum(OPT_OUT_ACTIONS)).default({}),
    {
      text: 'What is done about opt-outs, by their names in errors.md, where not as purpose says: `note` keeps the page and says so in pages.jsonl, `unstored` keeps no copy in the archive, `skip` keeps nothing.',
    },
    'by purpose',
  ),
  tdmFile: choice(['if-binding', 'always'], 'if-binding', {
    text: 'Whether /.well-known/tdmrep.json is asked for, a request per origin and day: where the `tdm` opt-out is more than noted, or always.',
  }),
  crawlDelayMax: duration('5m', {
    text: 'A longer Crawl-delay or Request-rate in robots.txt counts as this; 0ms: none counts.',
  }),
  cacheEntries: count(
    2 ** 18,
    { text: 'Hosts whose robots rules are kept; as many as Mercator kept.' },
    { min: 1_000 },
  ),
  cacheBytes: size('64MiB', { text: 'Memory for the robots rules that are kept.' }, 2 ** 20),
  ttl: duration('24h', { text: 'How long robots rules are relied on.' }, { minMs: 60_000, maxMs: DAY_MS }),
  ttlMin: duration(
    '1h',
    { text: 'The Cache-Control of a robots.txt can shorten ttl down to this.' },
    { minMs: 60_000, maxMs: DAY_MS },
  ),
  unreachableTtl: duration(
    '10m',
    { text: 'How long a host is left alone when its robots.txt answers 429, 5xx or not at all.' },
    { minMs: 60_000, maxMs: DAY_MS },
  ),
})

export type RobotsOptions = z.output<typeof robotsOptions>
