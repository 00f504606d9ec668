// Origins met in canonical URLs, found again by the bytes of a link that names one: `http://example.org:81/…`, `//example.org/…`.
// What is written exactly as a canonical origin is one, whatever path follows, so such a link needs no parser.
//
// With each, what the hash of every URL there begins with, and whatever the asker wants to remember of it (what the scope says).

import type { CanonicalUrl } from './canonical-url.ts'
import { pathStart } from './url-parts.ts'

export interface KnownOrigin<Note> {
  /** `https://example.org:81/` */
  readonly root: CanonicalUrl
  /** The bytes of `root` without its last '/'. */
  readonly bytes: Buffer
  /** Where the authority begins in them. */
  readonly authority: number
  /** 16 bits of the hash of the host, and the state of the hash behind the whole words of the origin. */
  readonly slot: number
  readonly v0: number
  readonly v1: number
  readonly v2: number
  readonly v3: number
  note: Note | undefined
}

/** Pages name origins by the million; past this many all are forgotten, and learnt anew. */
const ORIGINS_MAX = 4_096
/** Longer authorities are nobody's. */
const AUTHORITY_BYTES_MAX = 100

const SLASH = 47

export class KnownOrigins<Note> {
  /** By 30 bits of a hash of authority and scheme: small integers make quick keys. Of two with one hash the later stays. */
  readonly #origins = new Map<number, KnownOrigin<Note>>()

  /** The origin named by the authority that begins at `start` and ends with a '/' before `end`; null if it is not known. */
  find(bytes: Uint8Array, start: number, end: number, isSecure: boolean): KnownOrigin<Note> | null {
    let hash = isSecure ? 1 : 0
    let position = start
    const limit = Math.min(end, start + AUTHORITY_BYTES_MAX)
    for (; position < limit; position++) {
      const code = bytes[position] as number
      if (code === SLASH) break
      hash = Math.imul(hash ^ code, 0x01000193)
    }
    if (position === limit) return null
    const origin = this.#origins.get(hash & 0x3fff_ffff)
    if (origin === undefined || origin.bytes.length - origin.authority !== position - start) return null
    if ((origin.authority === 8) !== isSecure) return null
    for (let i = start; i < position; i++) if (bytes[i] !== origin.bytes[origin.authority + i - start]) return null
    return origin
  }

  /** Remembers the origin of a URL of http or https. */
  add(url: CanonicalUrl, origin: Omit<KnownOrigin<Note>, 'root' | 'bytes' | 'authority' | 'note'>): void {
    const end = pathStart(url)
    const bytes = Buffer.from(url.slice(0, end), 'latin1')
    const isSecure = url.startsWith('https:')
    const authority = isSecure ? 8 : 7
    if (end - authority >= AUTHORITY_BYTES_MAX) return
    let hash = isSecure ? 1 : 0
    for (let i = authority; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
    if (this.#origins.size >= ORIGINS_MAX) this.#origins.clear()
    const root = `${bytes.toString('latin1')}/` as CanonicalUrl
    this.#origins.set(hash & 0x3fff_ffff, { ...origin, root, bytes, authority, note: undefined })
  }

  clear(): void {
    this.#origins.clear()
  }
}
