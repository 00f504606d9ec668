// The connections worth keeping: one per origin, those used last at the end.
//
// Always true: at most `max` are kept unless more are busy; a busy one is never closed from here
// except by close(); one that is of no more use is closed as soon as that is known.

import type { Clock } from '../base/index.ts'
import { DeadlineSweep } from './deadline-sweep.ts'
import type { OriginConnection } from './origin-connection.ts'

export class ConnectionPool {
  readonly #max: number
  /** By origin, longest unused first. */
  readonly #connections = new Map<string, OriginConnection>()
  /** All there are, those in use and not kept included: whatever is late on them is found here. */
  readonly #sweep: DeadlineSweep<OriginConnection>
  /** Destructions under way. */
  readonly #closing = new Set<Promise<void>>()

  constructor(max: number, clock: Clock) {
    this.#max = max
    this.#sweep = new DeadlineSweep(clock)
  }

  get size(): number {
    return this.#connections.size
  }

  get(origin: string): OriginConnection | undefined {
    return this.#connections.get(origin)
  }

  /** All connections, also those that are not kept. Those met may be discarded on the way. */
  values(): Iterable<OriginConnection> {
    return this.#sweep.values()
  }

  /** A connection that is kept is used once more. */
  use(connection: OriginConnection): void {
    // In a pool that is half empty none is closed for another yet. Until it is full, what is used at all is moved behind the rest.
    if (this.#connections.size * 2 < this.#max) return
    this.#connections.delete(connection.origin)
    this.#connections.set(connection.origin, connection)
  }

  /** Keeps a new connection, in the place of the longest unused when there are too many. */
  keep(connection: OriginConnection): void {
    this.#connections.delete(connection.origin)
    this.#connections.set(connection.origin, connection)
    this.#sweep.add(connection)
    if (this.#connections.size <= this.#max) return
    for (const candidate of this.#connections.values()) {
      if (candidate.isBusy || candidate === connection) continue
      this.discard(candidate)
      return
    }
  }

  /** Whether a connection is the one of its origin. */
  has(connection: OriginConnection): boolean {
    return this.#connections.get(connection.origin) === connection
  }

  /** Closes a connection and forgets it; its origin gets a new one next time. */
  discard(connection: OriginConnection): void {
    if (this.has(connection)) this.#connections.delete(connection.origin)
    this.#sweep.remove(connection)
    const closing = connection.destroy()
    this.#closing.add(closing)
    void closing.finally(() => this.#closing.delete(closing))
  }

  forget(host: string): void {
    for (const connection of this.#connections.values())
      if (connection.host === host && !connection.isBusy) this.discard(connection)
  }

  async close(): Promise<void> {
    for (const connection of this.#connections.values()) this.discard(connection)
    this.#sweep.close()
    await Promise.all(this.#closing)
  }
}
