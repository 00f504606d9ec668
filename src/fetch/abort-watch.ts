// Who must stop when a signal aborts. A crawl has one signal and ten thousand requests a second, so there is one listener per
// signal and not per request; who is under way for that signal is looked for when it aborts. Signals are held weakly.

export class AbortWatch {
  readonly #known = new WeakSet<AbortSignal>()
  readonly #onAbort: (signal: AbortSignal) => void

  constructor(onAbort: (signal: AbortSignal) => void) {
    this.#onAbort = onAbort
  }

  /** Once is enough for all that is done for a signal. */
  watch(signal: AbortSignal): void {
    if (this.#known.has(signal)) return
    this.#known.add(signal)
    signal.addEventListener('abort', () => this.#onAbort(signal), { once: true })
  }
}
