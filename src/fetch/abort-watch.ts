// Who must stop when a signal aborts. A crawl has one signal and ten thousand requests a second, so
// there is one listener per signal and not per request. Signals are held weakly: what is watched for a
// signal that is gone is gone with it.

export interface Abortable {
  abort(): void
}

export class AbortWatch {
  readonly #watched = new WeakMap<AbortSignal, Set<Abortable>>()

  add(signal: AbortSignal, abortable: Abortable): void {
    let all = this.#watched.get(signal)
    if (all === undefined) {
      const created = new Set<Abortable>()
      signal.addEventListener(
        'abort',
        () => {
          for (const one of created) one.abort()
        },
        { once: true },
      )
      this.#watched.set(signal, created)
      all = created
    }
    all.add(abortable)
  }

  remove(signal: AbortSignal, abortable: Abortable): void {
    this.#watched.get(signal)?.delete(abortable)
  }
}
