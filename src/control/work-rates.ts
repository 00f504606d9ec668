// How fast work goes that several do, each of whom counts for itself: over the last ten seconds, never less than nothing. Whoever comes
// anew brings a count that says nothing of these seconds; whoever begins again at 0 has done what it counts since.

export interface WorkCount {
  readonly pages: number
  readonly bytes: number
  readonly cpuSeconds: number
}

const WINDOW_MS = 10_000

export class WorkRates {
  readonly #windowMs: number
  #last = new Map<string, WorkCount>()
  /** Sums of all work since the first look; the oldest is about as old as the window. */
  #sums: (WorkCount & { readonly atMs: number })[] = []

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs
  }

  note(atMs: number, counts: ReadonlyMap<string, WorkCount>): void {
    const before = this.#sums.at(-1) ?? { pages: 0, bytes: 0, cpuSeconds: 0, atMs }
    const sum = { pages: before.pages, bytes: before.bytes, cpuSeconds: before.cpuSeconds, atMs }
    for (const [who, count] of counts) {
      const last = this.#last.get(who)
      if (last === undefined) continue
      const isAnew = count.cpuSeconds < last.cpuSeconds
      for (const name of ['pages', 'bytes', 'cpuSeconds'] as const) {
        sum[name] += isAnew ? count[name] : Math.max(0, count[name] - last[name])
      }
    }
    // Whoever did not answer this time is remembered, and counted on when it does.
    this.#last = new Map([...this.#last, ...counts])
    this.#sums.push(sum)
    while (this.#sums.length > 2 && atMs - (this.#sums[1]?.atMs ?? atMs) >= this.#windowMs) this.#sums.shift()
  }

  /** Those that are gone for good need not be remembered. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#last.keys()) if (!names.has(name)) this.#last.delete(name)
  }

  perSecond(of: keyof WorkCount): number {
    const [first, last] = [this.#sums[0], this.#sums.at(-1)]
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0
    return ((last[of] - first[of]) * 1_000) / (last.atMs - first.atMs)
  }
}
