import type { LinkKind } from '../../src/parse/index.ts'

/** A link as it stands on a page, and where it leads. */
export interface Link {
  readonly kind: LinkKind
  /** As written, before the escaping of HTML. */
  readonly href: string
  /** Canonical; null for what no crawler follows (mailto: and the like). */
  readonly url: string | null
  readonly isNofollow: boolean
}
