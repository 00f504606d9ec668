// One catalogue of those that a thread keeps: asked, and read on with, one slice at a time.

import type { Clock } from '../base/index.ts'
import { Catalogue } from './catalogue.ts'
import { LinkSources } from './link-sources.ts'
import type { Question } from './messages.ts'

/** After trouble: a full disk, a file that cannot be read. */
const TROUBLE_MS = 30_000
/** What is left may be read before an answer is given, so that a small crawl is always seen whole: for so long, */
const CATCH_UP_MS = 60
/** if it is no more than this, */
const CATCH_UP_BYTES = 2 * 2 ** 20
/** so often. */
const CATCH_UP_EVERY_MS = 1_000
/** A question about links waits so long for them. */
const LINKS_MS = 120

export class KeptCatalogue {
  readonly #catalogue: Catalogue
  readonly #links: LinkSources
  readonly #clock: Clock
  /** One slice at a time, whoever wants it. */
  #slices: Promise<unknown> = Promise.resolve()
  #isClosing = false
  #caughtUpMs = -Infinity
  #troubleUntilMs = -Infinity

  private constructor(catalogue: Catalogue, links: LinkSources, clock: Clock) {
    this.#catalogue = catalogue
    this.#links = links
    this.#clock = clock
  }

  static async open(dir: string, clock: Clock): Promise<KeptCatalogue> {
    return new KeptCatalogue(await Catalogue.open({ dir, clock }), new LinkSources(dir, clock), clock)
  }

  get readShare(): number {
    return this.#catalogue.readShare
  }

  /** Lines in memory that are not written yet. */
  get heldLines(): number {
    return this.#catalogue.heldLines
  }

  /** While nobody asks. True when there is nothing to do now. */
  async readOn(ms: number): Promise<boolean> {
    if (this.#clock.nowMs() < this.#troubleUntilMs) return true
    try {
      return await this.#slice(ms, false)
    } catch {
      // Told to whoever asks; alone it only tries again.
      this.#troubleUntilMs = this.#clock.nowMs() + TROUBLE_MS
      return true
    }
  }

  async answer(question: Question): Promise<unknown> {
    if (question.ask === 'close') return this.#close()
    if (question.ask === 'advance') {
      await this.#slice(question.ms, true)
      return this.readShare
    }
    await this.#catchUp()
    switch (question.ask) {
      case 'pages':
        return this.#catalogue.pages(question.query)
      case 'failures':
        return this.#catalogue.failures(question.query)
      case 'broken': {
        const found = this.#catalogue.broken(question.query)
        return { ...found, items: await this.#links.addTo(found.items, LINKS_MS) }
      }
      case 'hosts':
        return this.#catalogue.hosts(question.query)
      case 'host':
        return this.#catalogue.host(question.host)
      case 'statistics':
        return this.#catalogue.statistics()
    }
  }

  #slice(ms: number, isAwaited: boolean): Promise<boolean> {
    const next = this.#slices.then(() => (this.#isClosing ? true : this.#catalogue.advance(ms, isAwaited)))
    this.#slices = next.catch(() => {})
    return next
  }

  async #catchUp(): Promise<void> {
    const isDue = this.#clock.nowMs() - this.#caughtUpMs >= CATCH_UP_EVERY_MS
    if (!isDue || this.#catalogue.behindBytes > CATCH_UP_BYTES) return
    await this.#slice(CATCH_UP_MS, true)
    this.#caughtUpMs = this.#clock.nowMs()
  }

  async #close(): Promise<null> {
    this.#isClosing = true
    await this.#slices
    await this.#links.close()
    this.#catalogue.close()
    return null
  }
}
