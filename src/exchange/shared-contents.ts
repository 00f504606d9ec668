// Have we met this content, whoever of us met it? A digest is owned by an agent, by its first bytes; the others ask it.
//
//   claim ─ own digest ──────────▶ the set of this agent
//         └ another's ─ asks ────▶ its set, which holds the claim for us
//   keep  ─ own ─▶ the set        another's ─▶ a note in the page's batch, which travels with the links
//
// Always true: what an owner tells others of is in a durable batch, so no copy is settled before its original. A claim
// that an agent held when it died is free again; an owner that died forgets who held claims on its digests, and the
// worst that follows is a copy that is taken for an original.

import type { Clock, ClockMs } from '../base/index.ts'
import type { ContentSeen, Original } from '../content-seen/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import type { Owners } from './owners.ts'
import type { PeerMessage } from './peer-message.ts'

export interface SharedContentsParts {
  readonly owners: Owners
  readonly own: ContentSeen
  /** Writes down the original of a digest of ours and says where. */
  readonly write: (note: OriginalNote) => number
  /** Puts a note for the owner of a digest into the present batch. */
  readonly note: (note: OriginalNote) => void
  readonly send: (agent: number, message: PeerMessage) => void
  /** Calls back once everything that is in the present batch is durable. */
  readonly whenDurable: (callback: () => void) => void
  /** How long an owner is waited for; left out where it is here and will be back in a moment. */
  readonly patience?: Patience | undefined
}

export interface Patience {
  readonly clock: Clock
  readonly ms: number
}

/** An owner that was waited for in vain is asked so often whether it is back. */
const PROBE_MS = 1_000

interface Asked {
  readonly agent: number
  readonly digest: string
  readonly sinceMs: number
  readonly resolve: (original: Original | null) => void
}

/** A question, of another or of a visit here, that the own set has not answered. */
interface Lending {
  readonly digest: string
  noted: Original | null
}

export class SharedContents implements ContentSeen {
  readonly #parts: SharedContentsParts
  /** What we asked others, by number. */
  readonly #asked = new Map<number, Asked>()
  #lastId = 0
  #isLosing = false
  /** Digests of ours that another holds the claim on. */
  readonly #lent = new Map<string, number>()
  readonly #lending = new Set<Lending>()
  /**
   * Digests of ours that a visit here holds the claim on. A note may end it meanwhile: of one who had held the claim before its
   * wire broke, and does not know that it was free after that.
   */
  readonly #claimed = new Set<string>()
  /** By agent: how often its wire was made anew. An answer for an earlier one finds nobody. */
  readonly #wires: number[]
  /** Owners that were waited for in vain and have not been heard since: when each was asked last. */
  readonly #silent = new Map<number, number>()

  constructor(parts: SharedContentsParts) {
    this.#parts = parts
    this.#wires = Array.from({ length: parts.owners.agents }, () => 0)
  }

  claim(digest: Uint8Array): Promise<Original | null> | Original | null {
    const { owners, own, send } = this.#parts
    const agent = owners.ofDigest(digest)
    const text = hexOf(digest)
    if (agent === owners.self) {
      const answer = own.claim(digest)
      if (answer instanceof Promise) return this.#claimLater(text, answer)
      if (answer === null) this.#claimed.add(text)
      return answer
    }
    const sinceMs = this.#parts.patience?.clock.nowMs() ?? 0
    const silentMs = this.#silent.get(agent)
    if (silentMs !== undefined && sinceMs - silentMs < PROBE_MS) return null
    const id = ++this.#lastId
    if (silentMs !== undefined) {
      // Its answer, whatever it says, will show that it is back.
      this.#silent.set(agent, sinceMs)
      send(agent, { kind: 'claim', id, digest: text })
      return null
    }
    return new Promise((resolve) => {
      this.#asked.set(id, { agent, digest: text, sinceMs, resolve })
      send(agent, { kind: 'claim', id, digest: text })
      this.#loseLater()
    })
  }

  /**
   * An owner that does not answer, because its machine has died and nobody has its share yet, must not hold up pages here, and with them
   * their hosts: after a while what it was asked counts as new, and so does at once what it would be asked next, until it is heard again.
   * (Where each question was waited for, every host soon stood at a page whose content was the dead one's: bench/takeover.ts.) What it
   * hears then, the note or that no page came of it, is what it would have heard.
   */
  #loseLater(): void {
    const { patience } = this.#parts
    if (patience === undefined || this.#isLosing || this.#asked.size === 0) return
    this.#isLosing = true
    const { clock, ms } = patience
    clock.callAt((clock.nowMs() + ms / 2) as ClockMs, () => {
      this.#isLosing = false
      const untilMs = clock.nowMs() - ms
      // Oldest first.
      for (const [id, { sinceMs, agent }] of this.#asked) {
        if (sinceMs > untilMs && !this.#silent.has(agent)) continue
        this.#silent.set(agent, this.#silent.get(agent) ?? clock.nowMs())
        this.#resolve(id, null)
      }
      this.#loseLater()
    })
  }

  #claimLater(text: string, answer: Promise<Original | null>): Promise<Original | null> {
    return this.#unlessNoted(text, answer, (original) => {
      if (original === null) this.#claimed.add(text)
      return original
    })
  }

  /**
   * A note that comes before the answer of the set is heard has ended the claim: it is the answer. `heard` is called in the breath in
   * which notes are no longer listened for, to write down who holds the claim: an await between the two would let a note slip through.
   */
  async #unlessNoted<T>(
    text: string,
    answer: Promise<Original | null> | Original | null,
    heard: (original: Original | null) => T,
  ): Promise<T> {
    const lending: Lending = { digest: text, noted: null }
    this.#lending.add(lending)
    try {
      return heard((await answer) ?? lending.noted)
    } finally {
      this.#lending.delete(lending)
    }
  }

  keep(digest: Uint8Array, original: Original): void {
    const { owners, own, note, write } = this.#parts
    const noted: OriginalNote = { digest: hexOf(digest), ...original }
    if (owners.ofDigest(digest) === owners.self) {
      this.#claimed.delete(noted.digest)
      own.keep(digest, original, write(noted))
    } else note(noted)
  }

  release(digest: Uint8Array): void {
    const { owners, own, send } = this.#parts
    const agent = owners.ofDigest(digest)
    if (agent === owners.self) {
      if (this.#claimed.delete(hexOf(digest))) own.release(digest)
    } else send(agent, { kind: 'release', digest: hexOf(digest) })
  }

  get size(): number {
    return this.#parts.own.size
  }

  /** Questions to others that are not answered. */
  get asking(): number {
    return this.#asked.size
  }

  /** Another asks for a digest of ours. */
  async lend(agent: number, id: number, text: string): Promise<void> {
    const { own, send, whenDurable } = this.#parts
    const wire = this.#wires[agent]
    const digest = Buffer.from(text, 'hex')
    await this.#unlessNoted(text, own.claim(digest), (original) => {
      if (wire !== this.#wires[agent]) {
        if (original === null) own.release(digest)
      } else if (original === null) {
        this.#lent.set(text, agent)
        send(agent, { kind: 'claimed', id, original })
        // Its page may be of this very moment.
      } else {
        whenDurable(() => {
          if (wire === this.#wires[agent]) send(agent, { kind: 'claimed', id, original })
        })
      }
    })
  }

  answered(agent: number, id: number, original: Original | null): void {
    this.#silent.delete(agent)
    this.#resolve(id, original)
  }

  #resolve(id: number, original: Original | null): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    asked?.resolve(original)
  }

  /** Another had no page of what it claimed. */
  returned(agent: number, text: string): void {
    if (this.#lent.get(text) !== agent) return
    this.#lent.delete(text)
    this.#parts.own.release(Buffer.from(text, 'hex'))
  }

  /** What another met first. To be called in the same breath as the rest of its parcel is filed. */
  receive(note: OriginalNote): void {
    const { digest, ...original } = note
    this.#lent.delete(digest)
    this.#claimed.delete(digest)
    for (const lending of this.#lending) if (lending.digest === digest) lending.noted ??= original
    this.#parts.own.keep(Buffer.from(digest, 'hex'), original, this.#parts.write(note))
  }

  /** The other end of a wire is new: what it held is free, and what it was asked it must be asked again. */
  reconnected(agent: number): void {
    this.#wires[agent] = (this.#wires[agent] as number) + 1
    this.#silent.delete(agent)
    for (const [text, holder] of [...this.#lent]) if (holder === agent) this.returned(agent, text)
    for (const [id, asked] of this.#asked) {
      if (asked.agent === agent) this.#parts.send(agent, { kind: 'claim', id, digest: asked.digest })
    }
  }
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex')
}
