// CheerioCrawler on every link of every page, storage in memory, in one of two ways:
//
//   CRAWLEE_LOG_LEVEL=OFF node crawlee-crawler.mjs FOLDER SEEDFILE manual     as its manual has it: enqueueLinks() knows what was met
//   CRAWLEE_LOG_LEVEL=OFF node crawlee-crawler.mjs FOLDER SEEDFILE bare       links by hand, known ones left out by a set of our own
//
// Prints {"pages": n}. FOLDER is where Crawlee is installed.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [, , folder, seedFile, way] = process.argv
const { CheerioCrawler, Configuration } = createRequire(join(folder, 'package.json'))('@crawlee/cheerio')
const seeds = readFileSync(seedFile, 'utf8').trim().split('\n')
const AT_ONCE = 64

let pages = 0
// Links that were met are not given to the queue again: enqueueLinks() would, and a third of the time went there.
const met = new Set(seeds)
const crawler = new CheerioCrawler(
  {
    minConcurrency: AT_ONCE,
    maxConcurrency: AT_ONCE,
    maxRequestRetries: 0,
    useSessionPool: false,
    persistCookiesPerSession: false,
    ignoreSslErrors: true,
    // Making up the headers of a browser costs a good part of a request.
    preNavigationHooks: [(_, options) => (options.useHeaderGenerator = false)],
    async requestHandler({ $, request, crawler, enqueueLinks }) {
      pages++
      if (way === 'manual') {
        await enqueueLinks({ selector: 'a[href]', strategy: 'all' })
        return
      }
      const fresh = []
      for (const element of $('a[href]')) {
        const url = new URL(element.attribs.href, request.loadedUrl)
        url.hash = ''
        if (met.has(url.href)) continue
        met.add(url.href)
        fresh.push(url.href)
      }
      if (fresh.length > 0) await crawler.addRequests(fresh)
    },
  },
  new Configuration({ persistStorage: false }),
)
await crawler.run(seeds)
console.log(JSON.stringify({ pages }))
