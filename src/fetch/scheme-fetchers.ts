import { assert, Fault } from '../base/index.ts'
import type { Fetcher, FetchOutcome, FetchRequest, SchemeFetcher } from './fetcher.ts'

/** One fetcher for all schemes of a crawl: hands each URL to the module of its scheme. */
export class SchemeFetchers implements Fetcher {
  readonly #modules: readonly SchemeFetcher[]
  readonly #byScheme = new Map<string, SchemeFetcher>()

  /** Throws a Fault when a wanted scheme has no module: a crawl must not find out at its first such URL. */
  constructor(modules: readonly SchemeFetcher[], wanted: readonly string[]) {
    this.#modules = modules
    for (const module of modules) for (const scheme of module.schemes) this.#byScheme.set(scheme, module)
    const missing = wanted.filter((scheme) => !this.#byScheme.has(scheme))
    if (missing.length > 0) {
      const known = [...this.#byScheme.keys()].join(', ')
      throw new Fault(
        'CONFIG_INVALID',
        `cannot fetch ${missing.map((scheme) => `${scheme}:`).join(', ')}; known schemes are ${known}`,
      )
    }
  }

  fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    const module = this.#byScheme.get(request.url.slice(0, request.url.indexOf(':')))
    assert(module !== undefined, `no module for ${request.url}: the scope let it through`)
    return module.fetch(request, signal)
  }

  forget(host: string): void {
    for (const module of this.#modules) module.forget(host)
  }

  async close(): Promise<void> {
    await Promise.all(this.#modules.map((module) => module.close()))
  }
}
