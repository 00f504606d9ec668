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

export interface UrlSeen {
  /** Remembers every URL of the batch and says which are new. Undefined when the answer is there at once. */
  meet(batch: FingerprintBatch): Promise<void> | undefined
  /** Whether a URL is known, without meeting it. */
  has(high: number, low: number): boolean | Promise<boolean>
  /** How often a URL was met (D11); 0 when it is not known. Saturates. */
  meetings(high: number, low: number): number | Promise<number>
  /** How many different URLs are known. */
  readonly size: number
  /** What it holds in memory. */
  readonly memoryBytes: number
}
