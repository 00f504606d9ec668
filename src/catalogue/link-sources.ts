// Who links to URLs that do not work: counted in the link logs, which are long, for the URLs of one answer at a time.
//
// An answer waits a moment for them. Where the logs are longer than that the first answer has the page each URL was found on, the
// counting goes on, and later answers have it. What was counted is kept for the last URLS_KEPT URLs, and counted again when it is asked
// for and the logs have grown. One pass over a log of ten million pages with 35 links each takes some ten seconds of CPU.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../base/index.ts'
import { LinkLogReader } from '../processors/index.ts'
import { type CanonicalUrl, Fingerprinter } from '../url/index.ts'
import { sharesOf } from '../view/index.ts'
import type { BrokenLink } from './answers.ts'

const URLS_KEPT = 5_000
const PAGES_NAMED = 5
/** What was counted holds so long, even if the logs grow. */
const COUNT_AGAIN_MS = 60_000

interface Counted {
  readonly count: number
  readonly pages: string[]
  /** Of all logs when it was counted. */
  readonly bytes: number
  readonly atMs: number
}

export class LinkSources {
  readonly #dir: string
  readonly #clock: Clock
  readonly #counted = new Map<string, Counted>()
  #running: Promise<void> | null = null
  #isClosed = false

  constructor(dir: string, clock: Clock) {
    this.#dir = dir
    this.#clock = clock
  }

  /** The same items with what is known of their links, after so long at most. */
  async addTo(items: readonly BrokenLink[], ms: number): Promise<BrokenLink[]> {
    const logs = await this.#logs()
    const bytes = logs.reduce((sum, log) => sum + log.bytes, 0)
    const isDue = items.some(({ url }) => !this.#isKnown(url, bytes))
    if (bytes > 0 && isDue && this.#running === null) {
      const urls = items.map(({ url }) => url).filter((url) => !this.#isKnown(url, bytes))
      this.#running = this.#count(
        logs.map(({ path }) => path),
        urls,
        bytes,
      )
        // A log that cannot be read costs the counts, not the list.
        .catch(() => {})
        .finally(() => {
          this.#running = null
        })
    }
    if (isDue && this.#running !== null) {
      let timer: NodeJS.Timeout | undefined
      await Promise.race([this.#running, new Promise((resolve) => (timer = setTimeout(resolve, ms)))])
      clearTimeout(timer)
    }
    return items.map((item) => {
      const found = this.#counted.get(item.url)
      return found === undefined || found.count === 0
        ? item
        : { ...item, linkedFrom: { count: found.count, pages: found.pages } }
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  #isKnown(url: string, bytes: number): boolean {
    const found = this.#counted.get(url)
    return found !== undefined && (found.bytes === bytes || this.#clock.nowMs() - found.atMs < COUNT_AGAIN_MS)
  }

  async #logs(): Promise<{ path: string; bytes: number }[]> {
    const logs: { path: string; bytes: number }[] = []
    for (const share of await sharesOf(this.#dir)) {
      const path = join(share, 'state/links.log')
      logs.push({ path, bytes: (await stat(path).catch(() => null))?.size ?? 0 })
    }
    return logs
  }

  async #count(paths: readonly string[], urls: readonly string[], bytes: number): Promise<void> {
    const found = urls.map((url) => ({ url, count: 0, pages: [] as string[] }))
    for (const path of paths) {
      const log = await LinkLogReader.open(path)
      if (log === null) continue
      try {
        await countIn(log, found, () => this.#isClosed)
      } finally {
        await log.close()
      }
      if (this.#isClosed) return
    }
    const atMs = this.#clock.nowMs()
    for (const { url, count, pages } of found) {
      this.#counted.delete(url)
      this.#counted.set(url, { count, pages, bytes, atMs })
    }
    for (const url of this.#counted.keys()) {
      if (this.#counted.size <= URLS_KEPT) break
      this.#counted.delete(url)
    }
  }
}

async function countIn(
  log: LinkLogReader,
  found: readonly { url: string; count: number; pages: string[] }[],
  isOver: () => boolean,
): Promise<void> {
  const fingerprinter = new Fingerprinter(log.key)
  // By the lower half, which tells nearly all apart; the upper half is compared.
  const byLow = new Map<number, { high: number; of: (typeof found)[number] }>()
  for (const of of found) {
    fingerprinter.compute(of.url as CanonicalUrl)
    byLow.set(fingerprinter.low, { high: fingerprinter.high, of })
  }
  let source = ''
  await log.scan({
    page: (url) => {
      source = url
    },
    link: (high, low) => {
      const target = byLow.get(low)
      if (target === undefined || target.high !== high) return
      target.of.count++
      if (target.of.pages.length < PAGES_NAMED) target.of.pages.push(source)
    },
    isOver,
  })
}
