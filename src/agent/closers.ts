/** What was opened, to be closed from the last to the first, whatever happens on the way. */
export class Closers {
  readonly #closers: (() => Promise<void> | void)[] = []

  add(close: () => Promise<void> | void): void {
    this.#closers.push(close)
  }

  /** Tries all, then throws the first fault. Harmless twice. */
  async closeAll(): Promise<void> {
    const faults: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (fault) {
        faults.push(fault)
      }
    }
    if (faults.length > 0) throw faults[0]
  }
}
