// What agents say to each other. Plain data: it crosses threads, and one day machines.

import type { SkipReason } from '../base/index.ts'
import type { Original } from '../content-seen/index.ts'
import type { Address } from '../dns/index.ts'
import type { CarriedAnswer } from '../document/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'

/** What one batch of an agent holds for one other. */
export interface Parcel {
  /** The number of the batch. Parcels travel in order; not every batch has one. */
  readonly number: number
  /** Entries, packed (`packEntries`). */
  readonly entries: string
  readonly originals: readonly OriginalNote[]
}

/** What a robots.txt of somebody else's host answered, fetched in its host's turn by its owner. */
export type ErrandAnswer =
  | { readonly kind: 'answered'; readonly answer: PlainAnswer }
  | { readonly kind: 'failed' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'refused' }

/** As much of an answer as rules need. */
export interface PlainAnswer {
  readonly url: CanonicalUrl
  readonly status: number
  readonly location: string | null
  readonly cacheControl: string | null
  readonly body: Uint8Array
  readonly isCut: boolean
}

/** Which of the two gates: of addresses, or of domains. */
export type TurnGate = 'address' | 'domain'

/** A turn of a host that its owner lends: what may be asked, already judged, and where. */
export interface LentTurn {
  readonly urls: readonly CanonicalUrl[]
  /** None behind a proxy that resolves names. */
  readonly addresses: readonly Address[]
}

/** What came of one URL of a lent turn. Failures are not told: the owner sees for itself. */
export type LentAnswer =
  | { readonly kind: 'fetched'; readonly answer: CarriedAnswer }
  | { readonly kind: 'skipped'; readonly url: CanonicalUrl; readonly reason: SkipReason; readonly detail: string }

export type PeerMessage =
  /**
   * First on every wire: what the sender holds of the other's batches; and the last batch of its own, which is less than the other
   * holds only where what had been promised is lost.
   */
  | { readonly kind: 'hello'; readonly holds: number; readonly last: number }
  | { readonly kind: 'parcel'; readonly parcel: Parcel }
  /** Everything up to this batch of yours is in a batch of mine. */
  | { readonly kind: 'confirmed'; readonly upTo: number }
  /** Has anybody met this content? `mayBeHeld`: one of us may have the claim on it without your knowledge. */
  | { readonly kind: 'claim'; readonly id: number; readonly digest: string; readonly mayBeHeld: boolean }
  | { readonly kind: 'claimed'; readonly id: number; readonly original: Original | null }
  /** Does a page of yours have the claim on this content of mine? */
  | { readonly kind: 'probe'; readonly id: number; readonly digest: string }
  | { readonly kind: 'probed'; readonly id: number; readonly isHeld: boolean }
  /** No page came of it. */
  | { readonly kind: 'release'; readonly digest: string }
  | { readonly kind: 'errand'; readonly id: number; readonly url: CanonicalUrl }
  | { readonly kind: 'errand-done'; readonly id: number; readonly answer: ErrandAnswer }
  /** A right to ask through a door of yours: of addresses or of domains (`gate`). */
  | { readonly kind: 'turn-want'; readonly gate: TurnGate; readonly door: number; readonly id: number }
  | { readonly kind: 'turn-given'; readonly gate: TurnGate; readonly id: number; readonly forMs: number }
  | { readonly kind: 'turn-later'; readonly gate: TurnGate; readonly id: number; readonly inMs: number }
  /** It is not used any more. */
  | { readonly kind: 'turn-back'; readonly gate: TurnGate; readonly id: number; readonly wasAsked: boolean }
  /** Hosts of mine have more waiting than I can ask for: who has time? */
  | { readonly kind: 'lend-wanted' }
  /** I have, from now on for a moment. */
  | { readonly kind: 'lend-offer'; readonly id: number }
  /** A turn for whoever offered: it is over so long after the offer was sent. */
  | { readonly kind: 'lend-turn'; readonly id: number; readonly forMs: number; readonly turn: LentTurn }
  /** It is over: nothing of it is asked for any more. What came of it; and the number of another offer, if there is time for one. */
  | {
      readonly kind: 'lend-done'
      readonly id: number
      readonly answers: readonly LentAnswer[]
      readonly next: number | null
    }
