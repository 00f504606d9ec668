// Pages of a turn that are answered and not settled yet, while their host is asked for the next.
//
//    hold(page) ─▶ begin(): behind the next request ─▶ being settled, several at a time ─▶ settled
//
// Several, because settling may wait for something that takes as long as an answer does: a disk, or another thread that compresses.

/** That are being settled; one more is answered and held. Three that wait leave time for whatever they wait for; more would only be more that is asked for again after a crash. */
const BEHIND_MAX = 4

export class PagesBehind {
  /** Answered, and not begun to be settled: requests of a round are written before pages are read (src/fetch/outbox.ts). */
  #held: (() => Promise<void>) | null = null
  readonly #settling = new Set<Promise<void>>()
  /** Of the first that breaks: a fault of ours, which waits for no answer. */
  readonly #broken = Promise.withResolvers<never>()

  constructor() {
    // Whoever waits next hears of it.
    this.#broken.promise.catch(() => {})
  }

  /** A page for later. Whatever was held before has begun. */
  hold(settle: () => Promise<void>): void {
    this.#held = settle
  }

  /** Begins to settle what is held. */
  begin(): void {
    const settle = this.#held
    if (settle === null) return
    this.#held = null
    const settling = settle().then(
      () => void this.#settling.delete(settling),
      (fault: unknown) => this.#broken.reject(fault),
    )
    this.#settling.add(settling)
  }

  /** What is waited for; rejects where settling breaks meanwhile. */
  unlessBroken<T>(awaited: Promise<T>): Promise<T> {
    return Promise.race([this.#broken.promise, awaited])
  }

  /** Resolves when the host may be asked once more. */
  async room(): Promise<void> {
    if (this.#settling.size === 0) return
    // Pages that wait for nothing but their turn of the loop have it first: behind one more answer they would go together with it (convoy.ts),
    // before the next request is written, and its server would sleep meanwhile.
    await this.unlessBroken(new Promise((goOn) => setImmediate(goOn)))
    while (this.#settling.size >= BEHIND_MAX) await this.unlessBroken(Promise.race(this.#settling))
  }

  /** Resolves when all are settled. */
  async all(): Promise<void> {
    this.begin()
    await this.unlessBroken(Promise.all(this.#settling))
  }
}
