import type { FetchOutcome, FetchRequest, SchemeFetcher } from './fetcher.ts'

/** A module that is loaded when its first URL comes: most crawls never meet one, and each agent would load it for itself. */
export class LateFetcher implements SchemeFetcher {
  readonly schemes: readonly string[]
  readonly #load: () => Promise<SchemeFetcher>
  #loading: Promise<SchemeFetcher> | null = null
  #loaded: SchemeFetcher | null = null

  constructor(schemes: readonly string[], load: () => Promise<SchemeFetcher>) {
    this.schemes = schemes
    this.#load = load
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    this.#loading ??= this.#load()
    this.#loaded ??= await this.#loading
    return this.#loaded.fetch(request, signal)
  }

  forget(host: string): void {
    this.#loaded?.forget(host)
  }

  async close(): Promise<void> {
    const loading = this.#loading
    if (loading !== null) await (await loading).close()
  }
}
