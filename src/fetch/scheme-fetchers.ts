import { Fault } from '../base/index.ts'
import type { Fetcher, FetchOutcome, FetchRequest, SchemeFetcher } from './fetcher.ts'

/** One fetcher for all schemes of a crawl: hands each URL to the module of its scheme. */
export class SchemeFetchers implements Fetcher {
  readonly #modules: readonly SchemeFetcher[]
  /** By how their URLs begin, 'http:'. Few, and the one that is used most comes first: no name is cut out and looked up. */
  readonly #byStart: { readonly start: string; readonly module: SchemeFetcher }[] = []

  /** Throws a Fault when a wanted scheme has no module: a crawl must not find out at its first such URL. */
  constructor(modules: readonly SchemeFetcher[], wanted: readonly string[]) {
    this.#modules = modules
    const known = modules.flatMap((module) => module.schemes)
    for (const module of modules)
      for (const scheme of module.schemes) this.#byStart.push({ start: `${scheme}:`, module })
    const missing = wanted.filter((scheme) => !known.includes(scheme))
    if (missing.length > 0) {
      throw new Fault(
        'CONFIG_INVALID',
        `cannot fetch ${missing.map((scheme) => `${scheme}:`).join(', ')}; known schemes are ${known.join(', ')}`,
      )
    }
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    for (const { start, module } of this.#byStart) {
      if (request.url.startsWith(start)) return module.fetch(request, signal)
    }
    throw new Fault('ASSERTION', `no module for ${request.url}: the scope let it through`)
  }

  forget(host: string): void {
    for (const module of this.#modules) module.forget(host)
  }

  async close(): Promise<void> {
    await Promise.all(this.#modules.map((module) => module.close()))
  }
}
