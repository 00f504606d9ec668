// Have we met this content, whoever of us met it? A digest is owned by an agent, by its first bytes; the others ask it.
//
//   claim ─ own digest ──────────▶ the set of this agent
//         └ another's ─ marked by nobody ─▶ ours, at once          content-marks.ts, where all agents are threads of one process
//                     └ else asks ────────▶ its set, which holds the claim for us
//   keep  ─ own ─▶ the set        another's ─▶ a note in the page's batch, which travels with the links
//
// A claim that was had by a mark its owner has not heard of. So before it gives a claim away on a digest that had been marked, or takes it for a
// page of its own, it asks all others whether one of them holds it (`probe`), and waits for its note, or to hear that no page came of it.
//
// Always true: what an owner tells others of is in a durable batch, so no copy is settled before its original. A claim
// that an agent held when it died is free again. An owner that died forgets who held claims on its digests: where there are marks it asks
// all others; elsewhere, and where a mark found no room, the worst that follows is a copy that is taken for an original.

import type { Clock, ClockMs } from '../base/index.ts'
import type { ContentSeen, Original } from '../content-seen/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import type { ContentMarks } from './content-marks.ts'
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
  /** Left out where agents have no memory in common. */
  readonly marks?: ContentMarks | null | undefined
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

/** A claim that somebody may have had by a mark. */
interface Probe {
  readonly digest: string
  /** Those who have not said that they do not hold it. */
  readonly agents: Set<number>
  /** A note has come, or nobody holds it. */
  readonly resolve: () => void
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
  /**
   * Digests of others that a page here has the claim on, from the moment of the claim until its owner has the note in a batch of its own, or no page
   * came of it. Where there are marks.
   */
  readonly #held = new Set<string>()
  /** By number. */
  readonly #probes = new Map<number, Probe>()

  constructor(parts: SharedContentsParts) {
    this.#parts = parts
    this.#wires = Array.from({ length: parts.owners.agents }, () => 0)
  }

  claim(digest: Uint8Array): Promise<Original | null> | Original | null {
    const { owners, own, send, marks } = this.#parts
    const agent = owners.ofDigest(digest)
    const text = hexOf(digest)
    // Before it is marked: what others knew was marked by then.
    const areOpen = marks?.areOpen === true
    const isWhole = marks?.isWhole(agent) === true
    const marking = marks?.mark(digest) ?? 'untold'
    const mayBeHeld = marks != null && (marking === 'met' || !areOpen)
    if (agent === owners.self) {
      const answer = own.claim(digest)
      if (answer instanceof Promise || (answer === null && mayBeHeld)) return this.#claimLater(text, answer, mayBeHeld)
      if (answer === null) this.#claimed.add(text)
      return answer
    }
    if (isWhole && marking === 'first') {
      this.#held.add(text)
      return null
    }
    const sinceMs = this.#parts.patience?.clock.nowMs() ?? 0
    const silentMs = this.#silent.get(agent)
    if (silentMs !== undefined && sinceMs - silentMs < PROBE_MS) return null
    const id = ++this.#lastId
    if (silentMs !== undefined) {
      // Its answer, whatever it says, will show that it is back.
      this.#silent.set(agent, sinceMs)
      send(agent, { kind: 'claim', id, digest: text, mayBeHeld })
      return null
    }
    return new Promise((resolve) => {
      this.#asked.set(id, { agent, digest: text, sinceMs, resolve })
      send(agent, { kind: 'claim', id, digest: text, mayBeHeld })
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

  #claimLater(text: string, answer: Promise<Original | null> | null, mayBeHeld: boolean): Promise<Original | null> {
    return this.#unlessNoted(text, answer, mayBeHeld, (original) => {
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
    mayBeHeld: boolean,
    heard: (original: Original | null) => T,
  ): Promise<T> {
    const lending: Lending = { digest: text, noted: null }
    this.#lending.add(lending)
    try {
      const original = await answer
      if (mayBeHeld && original === null && lending.noted === null) await this.#whileHeld(text)
      return heard(original ?? lending.noted)
    } finally {
      this.#lending.delete(lending)
    }
  }

  /** Resolves when none of the others holds the claim on a digest of ours. */
  #whileHeld(text: string): Promise<void> {
    const { owners, send } = this.#parts
    return new Promise((resolve) => {
      const id = ++this.#lastId
      const agents = new Set<number>()
      for (let agent = 0; agent < owners.agents; agent++) if (agent !== owners.self) agents.add(agent)
      this.#probes.set(id, { digest: text, agents, resolve })
      for (const agent of agents) send(agent, { kind: 'probe', id, digest: text })
    })
  }

  /** The owner of a digest asks whether a page here has the claim on it. */
  probe(agent: number, id: number, text: string): void {
    this.#parts.send(agent, { kind: 'probed', id, isHeld: this.#held.has(text) })
  }

  /** What is held ends with a note or is given back, and its holder says so. */
  probed(agent: number, id: number, isHeld: boolean): void {
    const probe = this.#probes.get(id)
    if (probe !== undefined && !isHeld) this.#isFreeOf(agent, id, probe)
  }

  #isFreeOf(agent: number, id: number, { agents, resolve }: Probe): void {
    agents.delete(agent)
    if (agents.size > 0) return
    this.#probes.delete(id)
    resolve()
  }

  /** Notes for others are in a batch of ours, of now or of an earlier run. */
  pending(notes: readonly OriginalNote[]): void {
    if (this.#parts.marks != null) for (const { digest } of notes) this.#held.add(digest)
  }

  /** Their owner has them in a batch of its own. */
  confirmed(notes: readonly OriginalNote[]): void {
    for (const { digest } of notes) this.#held.delete(digest)
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
    } else {
      const text = hexOf(digest)
      this.#held.delete(text)
      send(agent, { kind: 'release', digest: text })
    }
  }

  get size(): number {
    return this.#parts.own.size
  }

  /** Questions to others that are not answered. */
  get asking(): number {
    return this.#asked.size
  }

  /** Another asks for a digest of ours. */
  async lend(agent: number, id: number, text: string, mayBeHeld: boolean): Promise<void> {
    const { own, send, whenDurable } = this.#parts
    const wire = this.#wires[agent]
    const digest = Buffer.from(text, 'hex')
    await this.#unlessNoted(text, own.claim(digest), mayBeHeld, (original) => {
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
    if (asked !== undefined && original === null && this.#parts.marks != null) this.#held.add(asked.digest)
    asked?.resolve(original)
  }

  /** Another had no page of what it claimed. */
  returned(agent: number, text: string): void {
    for (const [id, probe] of this.#probes) if (probe.digest === text) this.#isFreeOf(agent, id, probe)
    if (this.#lent.get(text) === agent) this.#free(text)
  }

  #free(text: string): void {
    this.#lent.delete(text)
    this.#parts.own.release(Buffer.from(text, 'hex'))
  }

  /** What another met first. To be called in the same breath as the rest of its parcel is filed. */
  receive(note: OriginalNote): void {
    const { digest, ...original } = note
    this.#lent.delete(digest)
    this.#claimed.delete(digest)
    for (const lending of this.#lending) if (lending.digest === digest) lending.noted ??= original
    for (const [id, probe] of this.#probes) {
      if (probe.digest !== digest) continue
      this.#probes.delete(id)
      probe.resolve()
    }
    this.#parts.own.keep(Buffer.from(digest, 'hex'), original, this.#parts.write(note))
  }

  /** The other end of a wire is new: what it held is free, and what it was asked it must be asked again. */
  reconnected(agent: number): void {
    this.#wires[agent] = (this.#wires[agent] as number) + 1
    this.#silent.delete(agent)
    for (const [text, holder] of [...this.#lent]) if (holder === agent) this.#free(text)
    for (const [id, asked] of this.#asked) {
      if (asked.agent !== agent) continue
      // Meanwhile it may have been given to another, and forgotten.
      this.#parts.send(agent, { kind: 'claim', id, digest: asked.digest, mayBeHeld: this.#parts.marks != null })
    }
    for (const [id, { digest, agents }] of this.#probes) {
      if (agents.has(agent)) this.#parts.send(agent, { kind: 'probe', id, digest })
    }
  }
}

function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex')
}
