// The processors of a crawl, in order, by media type.

import type { PageInHand, Processor } from './processor.ts'

/** Servers invent media types; past this many the choice is made anew each time. */
const REMEMBERED_TYPES_MAX = 1_000

export class ProcessorChain {
  readonly #processors: readonly Processor[]
  readonly #byType = new Map<string | null, readonly Processor[]>()
  readonly #onFailure: (processor: string, page: PageInHand, cause: unknown) => void

  /** `onFailure` hears of a processor that threw: the page goes on without it. */
  constructor(
    processors: readonly Processor[],
    onFailure: (processor: string, page: PageInHand, cause: unknown) => void,
  ) {
    this.#processors = processors
    this.#onFailure = onFailure
  }

  /** Undefined when all was done at once, as it nearly always is. */
  run(page: PageInHand): Promise<void> | undefined {
    return this.#runFrom(page, this.#chosen(page.mediaType), 0)
  }

  #runFrom(page: PageInHand, processors: readonly Processor[], from: number): Promise<void> | undefined {
    for (let i = from; i < processors.length; i++) {
      const processor = processors[i] as Processor
      try {
        const later = processor.process(page)
        if (later !== undefined) return this.#goOnAfter(later, page, processors, i)
      } catch (cause) {
        this.#onFailure(processor.name, page, cause)
      }
      if (page.dropped !== null) return
    }
  }

  async #goOnAfter(
    later: Promise<void>,
    page: PageInHand,
    processors: readonly Processor[],
    index: number,
  ): Promise<void> {
    try {
      await later
    } catch (cause) {
      this.#onFailure((processors[index] as Processor).name, page, cause)
    }
    if (page.dropped === null) await this.#runFrom(page, processors, index + 1)
  }

  #chosen(mediaType: string | null): readonly Processor[] {
    const known = this.#byType.get(mediaType)
    if (known !== undefined) return known
    const chosen = this.#processors.filter((processor) => processor.accepts(mediaType))
    if (this.#byType.size < REMEMBERED_TYPES_MAX) this.#byType.set(mediaType, chosen)
    return chosen
  }
}
