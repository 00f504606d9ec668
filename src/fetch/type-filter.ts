/** Which media types are wanted, decided on the head before the body comes. */
export class TypeFilter {
  readonly #accepted: readonly string[]
  readonly #rejected: readonly string[]

  /** Lists of 'text/html', 'text/*' or any. Nothing accepted by name means everything is. */
  constructor(accepted: readonly string[], rejected: readonly string[]) {
    this.#accepted = accepted.map((range) => range.toLowerCase())
    this.#rejected = rejected.map((range) => range.toLowerCase())
  }

  /** An answer without a sensible type is wanted: what it is shows in its body. */
  wants(mediaType: string | null): boolean {
    if (mediaType === null) return true
    if (this.#rejected.length > 0 && this.#rejected.some((range) => covers(range, mediaType))) return false
    return this.#accepted.length === 0 || this.#accepted.some((range) => covers(range, mediaType))
  }
}

function covers(range: string, mediaType: string): boolean {
  if (range === '*/*') return true
  return range.endsWith('/*') ? mediaType.startsWith(range.slice(0, -1)) : range === mediaType
}
