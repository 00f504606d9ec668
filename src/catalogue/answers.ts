// What is asked of a catalogue and what it answers. The control API has these shapes as schemas of its own, which a test there holds
// against them.

export interface Listed<T> {
  readonly items: T[]
  /** Where the following part begins; null at the end. */
  readonly next: string | null
  /** Null where counting would mean looking. */
  readonly total: number | null
}

/** How far the catalogue has read: 1 is all. */
export interface ReadShare {
  readonly readShare: number
}

/** What is found, and how far what it was found in is read. */
export type Catalogued<T> = Listed<T> & ReadShare

interface Part {
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

export interface PagesQuery extends Part {
  readonly host?: string | undefined
  readonly status?: number | undefined
  readonly type?: string | undefined
  /** Words of the title, or of the URL where it has none; all must be there, the last may be a beginning. */
  readonly text?: string | undefined
}

export interface CataloguedPage {
  readonly at: string
  readonly url: string
  readonly status: number
  readonly type: string | null
  readonly title: string | null
  readonly bytes: number
  readonly depth: number
  readonly fetchedAt: string
  readonly durationMs: number
  readonly duplicateOf: string | null
}

export interface FailuresQuery extends Part {
  readonly kind?: 'failed' | 'skipped' | undefined
  readonly reason?: string | undefined
  readonly host?: string | undefined
}

export interface CataloguedFailure {
  readonly at: string
  readonly url: string
  readonly kind: 'failed' | 'skipped'
  readonly reason: string
  readonly detail: string
  readonly depth: number
  readonly via: string | null
  readonly when: string
}

export interface BrokenQuery extends Part {
  readonly host?: string | undefined
}

export interface BrokenLink {
  readonly at: string
  readonly url: string
  /** The status, or the code of the failure. */
  readonly outcome: string
  /** How many pages are known to link to it, and the first few. */
  readonly linkedFrom: { readonly count: number; readonly pages: string[] }
}

export type HostOrder = 'pages' | 'errors' | 'bytes' | 'time' | 'host'

export interface HostsQuery extends Part {
  /** Anywhere in the name. */
  readonly text?: string | undefined
  readonly sort?: HostOrder | undefined
}

export interface CataloguedHost {
  readonly host: string
  readonly pages: number
  readonly errors: number
  readonly bytes: number
  /** To the first byte, over its pages; 0 without any. */
  readonly meanMs: number
}

export interface HostFacts extends CataloguedHost {
  readonly statuses: Record<string, number>
  readonly types: Record<string, number>
  readonly failures: Record<string, number>
  readonly skipped: Record<string, number>
}

export interface Statistics extends ReadShare {
  readonly statuses: Record<string, number>
  readonly types: Record<string, number>
  /** Pages by size: [upper bound in bytes, pages]. */
  readonly sizes: [number, number][]
  readonly duplicates: number
  readonly topLevelDomains: { name: string; hosts: number; pages: number }[]
  readonly servers: Record<string, number>
  readonly languages: Record<string, number>
  readonly depths: Record<string, number>
}
