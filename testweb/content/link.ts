import type { LinkKind } from '../../src/parse/index.ts'
import type { Place } from './writing.ts'

/** How one place leads to another: by a link of its page, or by its answer. */
export type WayKind = LinkKind | 'redirect'

/** A link as it stands on a page, and where it leads. */
export interface Link {
  readonly kind: WayKind
  /** As written, before the escaping of HTML. */
  readonly href: string
  /** Canonical; null for what no crawler follows (mailto: and the like). */
  readonly url: string | null
  readonly isNofollow: boolean
}

/** A link to a place of this web. Its URL is put together when asked for: the truth asks, the server does not. */
export class PlaceLink implements Link {
  readonly kind: WayKind
  readonly href: string
  readonly isNofollow: boolean
  readonly to: Place

  constructor(kind: WayKind, href: string, to: Place, isNofollow: boolean) {
    this.kind = kind
    this.href = href
    this.to = to
    this.isNofollow = isNofollow
  }

  get url(): string {
    return this.to.host.origin + this.to.path
  }

  /** The same link, written differently. */
  rewritten(href: string): PlaceLink {
    return new PlaceLink(this.kind, href, this.to, this.isNofollow)
  }
}
