// Scrapy, with a spider that follows every link and keeps nothing.

import { fileURLToPath } from 'node:url'
import type { Contender } from './contender.ts'
import { versionFrom } from './version-from.ts'

const spider = fileURLToPath(new URL('scrapy-spider.py', import.meta.url))
/** Debian's, which has Debian's Scrapy: another one may come first in PATH. */
const PYTHON = '/usr/bin/python3'

export function scrapy(): Contender {
  return {
    name: 'scrapy',
    keeps: 'nothing',
    version: versionFrom(PYTHON, ['-c', 'import scrapy; print(scrapy.__version__)'], /(\S+)/),
    isSlow: true,
    settings:
      '64 at once, also per domain; links by lxml, known ones left out by a set of our own; no cookies, retries, robots, log, statistics or optional middlewares',
    run: ({ seedFile }) => ({ command: PYTHON, args: [spider, seedFile] }),
    countPages: (_, { stdout }) => (JSON.parse(stdout) as { pages: number }).pages,
  }
}
