// The ordered store that host lines lie in, as little of it as they need. Two keep it: LevelDB (level-store.ts), and one in
// memory for tests that can lose what was not written to its end.

export interface LineStore {
  /** Where it lies, for messages. */
  readonly directory: string
  getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]>
  /** What has keys from `from` (included) to `to` (not included), in order. */
  range(from: string, to: string): AsyncIterable<readonly [string, Uint8Array]>
  batch(): StoreBatch
  /** Gives back the room of what was deleted or written anew, in about so many bytes; the next call goes on behind them. */
  merge(bytes: number): Promise<void>
  close(): Promise<void>
}

/** Puts and deletes that happen together or not at all. */
export interface StoreBatch {
  put(key: string, value: Uint8Array): void
  delete(key: string): void
  /** Done when it would survive a power cut. */
  write(): Promise<void>
}
