// A value that views look at while it changes. Smaller than any library for it, and enough: what changes is told to whoever looks.

import { useEffect, useState } from 'preact/hooks'

export class Store<T> {
  #value: T
  readonly #listeners = new Set<(value: T) => void>()

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of this.#listeners) listener(value)
  }

  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState<T>(() => store.value)
  useEffect(() => {
    setValue(() => store.value)
    return store.subscribe((next) => setValue(() => next))
  }, [store])
  return value
}
