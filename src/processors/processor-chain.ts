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

  run(page: PageInHand): void {
    for (const processor of this.#chosen(page.mediaType)) {
      try {
        processor.process(page)
      } catch (cause) {
        this.#onFailure(processor.name, page, cause)
      }
      if (page.dropped !== null) return
    }
  }

  #chosen(mediaType: string | null): readonly Processor[] {
    const known = this.#byType.get(mediaType)
    if (known !== undefined) return known
    const chosen = this.#processors.filter((processor) => processor.accepts(mediaType))
    if (this.#byType.size < REMEMBERED_TYPES_MAX) this.#byType.set(mediaType, chosen)
    return chosen
  }
}
