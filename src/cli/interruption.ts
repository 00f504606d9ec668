// Signals that end a crawl, and the line on which it tells what happens.

import type { CrawlJob } from './crawl-job.ts'
import { logText } from './log-lines.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * The first signal stops cleanly, the second cuts what is under way; the third is left to the system.
 * It listens from the start: a crawl that is still being opened stops as soon as it can.
 */
export class Interruption {
  #job: CrawlJob | null = null
  #count = 0
  #stopToo: () => Promise<void> = async () => {}
  #stopsTooAt = 1
  #say: (line: string, kind: string) => void = (line, kind) => logText(kind, `${line}\n`)
  readonly #onSignal = (): void => {
    this.#count++
    this.#say(
      this.#count === 1
        ? 'Stopping: waiting for what is under way. Once more cuts it.'
        : 'Cutting what is under way. The same command goes on later.',
      'crawl',
    )
    this.#job?.stop('interrupted')
    if (this.#count >= this.#stopsTooAt) void this.#stopToo()
    if (this.#count === 2) this.end()
  }

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal)
  }

  /** Somebody wants it to end. */
  get isWanted(): boolean {
    return this.#count > 0
  }

  attach(job: CrawlJob): void {
    this.#job = job
    if (this.#count > 0) job.stop('interrupted')
  }

  /** As the first signal does; once asked for, a signal cuts. */
  stop(): void {
    if (this.#count === 0) this.#onSignal()
  }

  /** With the first signal, or the second. */
  alsoStop(stop: () => Promise<void>, signals: 1 | 2): void {
    this.#stopToo = stop
    this.#stopsTooAt = signals
    if (this.#count >= signals) void stop()
  }

  sayWith(say: (line: string, kind: string) => void): void {
    this.#say = say
  }

  tell(line: string, kind = 'crawl'): void {
    this.#say(line, kind)
  }

  end(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal)
  }
}
