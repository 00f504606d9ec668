// Progress for programs: the figures of the crawl every ten seconds, a JSON object a line.

import { logFigures, logText } from './log-lines.ts'
import { PLAIN_EVERY_MS, RATE_WINDOW_MS, type Snapshot } from './progress.ts'

export class JsonProgress {
  readonly intervalMs = 1_000
  readonly #tell: (figures: Readonly<Record<string, unknown>>) => void
  #window: Snapshot[] = []
  #toldMs: number | null = null

  constructor(
    tell: (figures: Readonly<Record<string, unknown>>) => void = (figures) => logFigures('progress', figures),
  ) {
    this.#tell = tell
  }

  update(now: Snapshot): void {
    this.#window.push(now)
    while (this.#window.length > 2 && now.atMs - (this.#window[0] as Snapshot).atMs > RATE_WINDOW_MS)
      this.#window.shift()
    // The first comes after one interval: a crawl of a second needs none.
    this.#toldMs ??= now.atMs
    if (now.atMs - this.#toldMs < PLAIN_EVERY_MS) return
    this.#toldMs = now.atMs
    const { pages, failed, skipped, bytes, waiting, hosts, active, resting, note } = now
    this.#tell({
      pages,
      failed,
      skipped,
      bytes,
      waiting,
      hosts,
      active,
      hostsResting: resting,
      pagesPerSecond: this.#rate(now, 'pages'),
      bytesPerSecond: this.#rate(now, 'bytes'),
      rssBytes: process.memoryUsage.rss(),
      ...(note === '' ? {} : { note }),
    })
  }

  say(line: string, kind = 'crawl'): void {
    logText(kind, line)
  }

  /** Nothing is painted over. */
  clear(): void {}

  #rate(now: Snapshot, of: 'pages' | 'bytes'): number {
    const first = this.#window[0] ?? now
    const seconds = (now.atMs - first.atMs) / 1_000
    const more = (now.done ?? now)[of] - (first.done ?? first)[of]
    return seconds <= 0 ? 0 : Math.round((more / seconds) * 1_000) / 1_000
  }
}
