// URLs that somebody follows through the crawl: what happens to them is told as it happens. Where none is followed, and nearly always
// none is, a look at a flag is all it costs.

/** More would be a log, not a trace. */
export const TRACES_MAX = 20

export class Traces {
  readonly #urls = new Set<string>()
  readonly #onStep: (url: string, step: string) => void
  isOn = false

  constructor(onStep: (url: string, step: string) => void) {
    this.#onStep = onStep
  }

  /** From now on; where there are too many, the first is forgotten. */
  follow(url: string): void {
    this.#urls.delete(url)
    this.#urls.add(url)
    for (const first of this.#urls) {
      if (this.#urls.size <= TRACES_MAX) break
      this.#urls.delete(first)
    }
    this.isOn = true
  }

  /** Only where isOn. */
  step(url: string, step: string): void {
    if (this.#urls.has(url)) this.#onStep(url, step)
  }
}
