// The connections worth keeping: one client per origin, those used last at the end.
//
// Always true: at most `max` clients are kept unless more are busy; a busy client is never closed
// from here except by close().

import type { OriginClient } from './origin-client.ts'

export class ClientPool {
  readonly #max: number
  /** By origin, longest unused first. */
  readonly #clients = new Map<string, OriginClient>()
  /** Destructions under way. */
  readonly #closing = new Set<Promise<void>>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#clients.size
  }

  get(origin: string): OriginClient | undefined {
    return this.#clients.get(origin)
  }

  /** Keeps a client as the one used last, in the place of the longest unused when there are too many. */
  keep(client: OriginClient): void {
    this.#clients.delete(client.origin)
    this.#clients.set(client.origin, client)
    if (this.#clients.size <= this.#max) return
    for (const candidate of this.#clients.values()) {
      if (candidate.busyCount > 0) continue
      this.discard(candidate)
      return
    }
  }

  /** Closes a client's connection and forgets it; its origin gets a new one next time. */
  discard(client: OriginClient): void {
    if (this.#clients.get(client.origin) === client) this.#clients.delete(client.origin)
    const closing = client.destroy()
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }

  forget(host: string): void {
    for (const client of this.#clients.values())
      if (client.host === host && client.busyCount === 0) this.discard(client)
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) this.discard(client)
    await Promise.all(this.#closing)
  }
}
