// Scrapy, with a spider that follows every link and keeps nothing: as its manual has it, and as bare as its parts allow.

import { fileURLToPath } from 'node:url'
import type { Contender } from './contender.ts'
import { versionFrom } from './version-from.ts'

const spider = fileURLToPath(new URL('scrapy-spider.py', import.meta.url))
/** Debian's, which has Debian's Scrapy: another one may come first in PATH. */
const PYTHON = '/usr/bin/python3'

const SETTINGS = {
  manual:
    "CrawlSpider with a rule for all links of a, Scrapy's own filter of duplicates; 64 at once, also per domain; no cookies, retries, redirects, robots or log",
  bare: '64 at once, also per domain; links by lxml, known ones left out by a set of our own; no cookies, retries, robots, log, statistics or optional middlewares',
}

export function scrapy(way: keyof typeof SETTINGS): Contender {
  return {
    name: way === 'manual' ? 'scrapy' : `scrapy, ${way}`,
    keeps: 'nothing',
    version: versionFrom(PYTHON, ['-c', 'import scrapy; print(scrapy.__version__)'], /(\S+)/),
    isSlow: true,
    settings: SETTINGS[way],
    run: ({ seedFile }) => ({ command: PYTHON, args: [spider, seedFile, way] }),
    countPages: (_, { stdout }) => (JSON.parse(stdout) as { pages: number }).pages,
  }
}
