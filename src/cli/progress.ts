// What a person sees while a crawl runs. On a terminal two lines that are painted over, in one write
// each time so that nothing flickers; elsewhere a plain line now and then.

import { formatBytes, formatDuration } from '../base/index.ts'
import { formatCount, formatNumberOf } from '../report/index.ts'

export interface Snapshot {
  readonly atMs: number
  readonly pages: number
  readonly failed: number
  readonly skipped: number
  readonly bytes: number
  /** What rates are of, where pages and bytes may jump: shares of a cluster come with what they did elsewhere. */
  readonly done?: { readonly pages: number; readonly bytes: number }
  readonly waiting: number
  readonly hosts: number
  readonly active: number
  readonly resting: number
  readonly maxPages: number | null
  /** Milliseconds left until --max-time, or null. */
  readonly leftMs: number | null
  /** What the crawl is doing when it is not just crawling: 'stopping', 'waiting 12 s for …'. */
  readonly note: string
}

export interface ProgressStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** How often a line comes where nothing is painted over. */
export const PLAIN_EVERY_MS = 10_000
/** The rate shown is that of the last seconds, not since the start: it answers "how fast now?". */
export const RATE_WINDOW_MS = 5_000
const BAR_WIDTH = 20
/** The level at which the lines say only what must be said. */
const LEVEL_LAST = 6

export class Progress {
  readonly #stream: ProgressStream
  readonly #isLive: boolean
  #window: Snapshot[] = []
  #paintedLines = 0
  #lastPlainMs = -Infinity

  constructor(stream: ProgressStream, mode: 'auto' | 'plain' | 'none') {
    this.#stream = stream
    this.#isLive = mode === 'auto' && stream.isTTY === true
  }

  get intervalMs(): number {
    return this.#isLive ? 200 : 1_000
  }

  update(now: Snapshot): void {
    this.#window.push(now)
    while (this.#window.length > 2 && now.atMs - (this.#window[0] as Snapshot).atMs > RATE_WINDOW_MS)
      this.#window.shift()
    if (this.#isLive) this.#paint(now)
    else if (now.atMs - this.#lastPlainMs >= PLAIN_EVERY_MS) {
      // The first plain line comes after one interval: a crawl of a second needs none.
      if (this.#lastPlainMs !== -Infinity) this.#stream.write(`${this.#figures(now, 0)}\n`)
      this.#lastPlainMs = now.atMs
    }
  }

  /** Takes the live lines away, with the ^C a terminal echoes below them, so that what follows stands on clean ground. */
  clear(): void {
    if (!this.#isLive) return
    this.#stream.write(`\r${this.#paintedLines > 0 ? `\x1b[${this.#paintedLines}A` : ''}\x1b[J`)
    this.#paintedLines = 0
  }

  /** A line that stays, above the live ones. */
  say(line: string, _kind?: string): void {
    this.clear()
    this.#stream.write(`${line}\n`)
  }

  #rate(now: Snapshot, figure: 'pages' | 'bytes'): number {
    const first = this.#window[0] ?? now
    const seconds = (now.atMs - first.atMs) / 1_000
    return seconds <= 0 ? 0 : ((now.done ?? now)[figure] - (first.done ?? first)[figure]) / seconds
  }

  /** With every level a little less, from what one can best do without; pages, failures and skips stay. */
  #figures(now: Snapshot, level: number): string {
    const rate = this.#rate(now, 'pages')
    const bytes = formatBytes(now.bytes)
    const hosts = formatNumberOf(now.hosts, 'host')
    return [
      formatNumberOf(now.pages, 'page'),
      ...(level < 6 ? [`${rate < 10 ? rate.toFixed(1) : formatCount(rate)}/s`] : []),
      ...(level < 1 ? [`${bytes}, ${formatBytes(this.#rate(now, 'bytes'))}/s`] : level < 3 ? [bytes] : []),
      ...(level < 5 ? [`${formatCount(now.waiting)} waiting`] : []),
      ...(level < 2
        ? [`${hosts} (${formatCount(now.active)} asked, ${formatCount(now.resting)} resting)`]
        : level < 4
          ? [hosts]
          : []),
      ...(now.failed > 0 ? [`${formatCount(now.failed)} failed`] : []),
      ...(now.skipped > 0 ? [`${formatCount(now.skipped)} skipped`] : []),
    ].join(' · ')
  }

  /** How far along, where a limit says what the end is; with every level a little less. */
  #horizon(now: Snapshot, level: number): string {
    const parts: string[] = []
    if (now.maxPages !== null) {
      const share = Math.min(1, now.pages / now.maxPages)
      const rate = this.#rate(now, 'pages')
      const leftMs = rate > 0 ? Math.round((now.maxPages - now.pages) / rate) * 1_000 : null
      const full = Math.round(share * BAR_WIDTH)
      parts.push(
        (level < 1 ? `[${'█'.repeat(full)}${'·'.repeat(BAR_WIDTH - full)}] ` : '') +
          `${formatCount(now.pages)} of ${formatNumberOf(now.maxPages, 'page')}` +
          (leftMs === null || leftMs <= 0 || level >= 2 ? '' : `, about ${formatDuration(leftMs)} left`),
      )
    }
    if (now.leftMs !== null && level < 3)
      parts.push(`${formatDuration(Math.max(0, Math.round(now.leftMs / 1_000)) * 1_000)} until --max-time`)
    if (now.note !== '') parts.push(now.note)
    return parts.join(' · ')
  }

  #paint(now: Snapshot): void {
    const width = Math.max(20, (this.#stream.columns ?? 80) - 1)
    const lines = [
      fitting(width, (level) => this.#figures(now, level)),
      fitting(width, (level) => this.#horizon(now, level)),
    ].filter((line) => line !== '')
    const up = this.#paintedLines > 0 ? `\r\x1b[${this.#paintedLines}A` : ''
    // Each line clears its own tail; a line that is no longer needed is cleared by the last code.
    this.#stream.write(`${up}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`)
    this.#paintedLines = lines.length
  }
}

/** The fullest line that fits; only where the shortest does not is it cut. */
function fitting(width: number, render: (level: number) => string): string {
  let line = render(0)
  for (let level = 1; level <= LEVEL_LAST && line.length > width; level++) line = render(level)
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`
}
