// Have we met this URL? The interface is a batch, because a set that has outgrown memory answers
// many questions in one sequential pass over the disk for the price of one.

/** URLs asked about together. Arrays are reused; only the first `count` places count. */
export interface FingerprintBatch {
  count: number
  /** High 32 bits of each fingerprint: the slot and 16 more. */
  readonly high: Uint32Array
  /** Low 32 bits of each fingerprint. */
  readonly low: Uint32Array
  /** Filled by meet(): 1 where the URL was not known before, also against earlier places of this batch. */
  readonly isNew: Uint8Array
}

/** An empty batch with room for `capacity` URLs. */
export function newBatch(capacity: number): FingerprintBatch {
  return {
    count: 0,
    high: new Uint32Array(capacity),
    low: new Uint32Array(capacity),
    isNew: new Uint8Array(capacity),
  }
}

export interface UrlSeen {
  /** Remembers every URL of the batch and says which are new. Undefined when the answer is there at once. */
  meet(batch: FingerprintBatch): Promise<void> | undefined
  /** Whether a URL is known, without meeting it. */
  has(high: number, low: number): boolean | Promise<boolean>
  /** How often a URL was met; 0 when it is not known. Saturates at 65,535. */
  meetings(high: number, low: number): number | Promise<number>
  /** How many different URLs are known. */
  readonly size: number
  /** What it holds in memory. */
  readonly memoryBytes: number
  /** Shows every URL known, in any order; for checkpoints. The set must not change meanwhile. */
  visit(visitor: (high: number, low: number, meetings: number) => void): void
  /** Takes up a URL with its meetings as visit() showed it; adds them where it is known already. */
  restore(high: number, low: number, meetings: number): void
}
