// A line store in memory, for tests: it counts its writes, can be made to die at any of them, and can be copied as a crash
// would leave it.

import type { LineStore, StoreBatch } from './line-store.ts'

export class MemoryLineStore implements LineStore {
  readonly directory = 'memory'
  readonly values: Map<string, Uint8Array>
  writes = 0
  /** The write that fails, and all after it; the failed one may have happened all the same. */
  diesAtWrite = Infinity
  happensWhenDying = false
  /** How many turns of waiting promises pass before an answer. */
  slowness = 0

  constructor(values: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.values = new Map(values)
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    await this.#wait()
    return keys.map((key) => this.values.get(key))
  }

  async *range(from: string, to: string): AsyncIterable<readonly [string, Uint8Array]> {
    const keys = [...this.values.keys()].filter((key) => key >= from && key < to).sort()
    for (const key of keys) yield [key, this.values.get(key) as Uint8Array]
  }

  batch(): StoreBatch {
    const changes: (() => void)[] = []
    return {
      put: (key, value) => void changes.push(() => this.values.set(key, Buffer.from(value))),
      delete: (key) => void changes.push(() => this.values.delete(key)),
      write: async () => {
        await this.#wait()
        const isLast = ++this.writes >= this.diesAtWrite
        if (isLast && (this.writes > this.diesAtWrite || !this.happensWhenDying)) throw new Error('the store has died')
        for (const change of changes) change()
        if (isLast) throw new Error('the store has died')
      },
    }
  }

  async merge(): Promise<void> {}

  async close(): Promise<void> {}

  async #wait(): Promise<void> {
    for (let i = 0; i < this.slowness; i++) await Promise.resolve()
  }
}
