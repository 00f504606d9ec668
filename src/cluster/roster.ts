// Who takes part: the last view, who wants in or out, and what the next view should be.
//
// The next view is worked out by everybody from the same records; only whether a member is dead is a judgement of the observer's
// own. Whoever finds that the last view is not right creates the next one, and of several who do, one wins.
//
// Always true:
//   - views are taken in order, none is left out, the number only grows;
//   - an incarnation that is in no view any more never comes back; its node comes back as another one;
//   - of two incarnations of one name at most one is in a view: the one that is there stays while it lives.

import type { Join, Member, View } from './records.ts'
import type { Wishes } from './wishes.ts'

/** Members of a view. Whoever comes when it is full has to wait. */
export const MEMBERS_MAX = 1_024
/** Joins that are in no view yet; the first to come is the first to be forgotten (its node joins again). */
export const PENDING_JOINS_MAX = 4_096
/** Incarnations that are known to be gone; the longest gone is forgotten first, and then waited out like one never met. */
export const DEPARTED_MAX = 65_536

const NO_VIEW: View = { number: 0, members: [], wishesUpTo: 0, by: '', because: '', at: '' }

/** What this node thinks of another's life. */
export interface LifeSigns {
  /** Nothing was heard of it for so long that it is taken for dead. */
  isDead(incarnation: string): boolean
  /** It was heard of lately. */
  isAlive(incarnation: string): boolean
}

export class Roster {
  #view = NO_VIEW
  /** Of members and of those who wait. In the order they were created. */
  readonly #joins = new Map<string, Join>()
  readonly #leaves = new Set<string>()
  /** When we learnt that it is in no view any more. */
  readonly #departed = new Map<string, number>()

  get view(): View {
    return this.#view
  }

  member(incarnation: string): Member | null {
    return this.#view.members.find((member) => member.incarnation === incarnation) ?? null
  }

  ofNode(node: string): Member | null {
    return this.#view.members.find((member) => member.node === node) ?? null
  }

  join(incarnation: string): Join | null {
    return this.#joins.get(incarnation) ?? null
  }

  /** Joins of this name that are in no view yet. */
  pendingOf(node: string): Join[] {
    return [...this.#joins.values()].filter((join) => join.node === node && this.member(join.incarnation) === null)
  }

  isWaiting(incarnation: string): boolean {
    return this.#joins.has(incarnation) && this.member(incarnation) === null
  }

  /** When we learnt that it was gone; null if it is not, or if it was never met. */
  departedMs(incarnation: string): number | null {
    return this.#departed.get(incarnation) ?? null
  }

  /** It has asked to go. */
  hasLeft(incarnation: string): boolean {
    return this.#leaves.has(incarnation)
  }

  hearJoin(join: Join): void {
    if (this.#departed.has(join.incarnation) || this.#joins.has(join.incarnation)) return
    this.#joins.set(join.incarnation, join)
    if (this.#joins.size <= this.#view.members.length + PENDING_JOINS_MAX) return
    for (const incarnation of this.#joins.keys()) {
      if (this.member(incarnation) !== null) continue
      this.#forget(incarnation)
      return
    }
  }

  hearLeave(incarnation: string): void {
    if (this.#departed.has(incarnation)) return
    this.#leaves.add(incarnation)
    const [oldest] = this.#leaves
    if (this.#leaves.size > MEMBERS_MAX + PENDING_JOINS_MAX && oldest !== undefined) this.#leaves.delete(oldest)
  }

  /** False: it is known already, or one before it is missing. */
  hearView(view: View, nowMs: number): boolean {
    if (view.number !== this.#view.number + 1) return false
    const before = this.#view
    this.#view = view
    for (const { incarnation } of before.members) {
      if (this.member(incarnation) === null) this.#depart(incarnation, nowMs)
    }
    // Joins whose node is in the view as a later one, or that were replaced before they ever got in.
    for (const member of view.members) {
      for (const replaced of this.#joins.get(member.incarnation)?.replaces ?? []) {
        if (this.isWaiting(replaced)) this.#depart(replaced, nowMs)
      }
    }
    return true
  }

  #depart(incarnation: string, nowMs: number): void {
    this.#forget(incarnation)
    this.#departed.set(incarnation, nowMs)
    const [oldest] = this.#departed.keys()
    if (this.#departed.size > DEPARTED_MAX && oldest !== undefined) this.#departed.delete(oldest)
  }

  #forget(incarnation: string): void {
    this.#joins.delete(incarnation)
    this.#leaves.delete(incarnation)
  }

  /** The members that the next view should have, and why; null where the last view is right. `leaver` goes. */
  next(wishes: Wishes, life: LifeSigns, leaver: string | null): { members: Member[]; because: string } | null {
    const reasons: string[] = []
    const members: Member[] = []
    const waiting = [...this.#joins.values()].filter((join) => this.isWaiting(join.incarnation))
    for (const member of this.#view.members) {
      const { incarnation, node } = member
      const heir = waiting.find(
        (join) => join.node === node && join.replaces.includes(incarnation) && life.isAlive(join.incarnation),
      )
      if (incarnation === leaver) reasons.push(`${node} has left`)
      else if (heir !== undefined) reasons.push(`${node} came back as ${heir.incarnation}`)
      else if (life.isDead(incarnation)) reasons.push(`${node} is dead`)
      else {
        const now = this.#asWished(member, wishes)
        if (now !== member) reasons.push(`${node} ${said(now)}`)
        members.push(now)
      }
    }
    for (const join of waiting) {
      if (members.length >= MEMBERS_MAX) break
      if (!life.isAlive(join.incarnation) || members.some((member) => member.node === join.node)) continue
      const { node, incarnation, weight } = join
      const member = this.#asWished({ node, incarnation, weight, isDraining: false, isLeaving: false }, wishes)
      if (member.isLeaving) continue
      members.push(member)
      reasons.push(`${node} joins`)
    }
    return reasons.length === 0 ? null : { members, because: reasons.join(', ') }
  }

  #asWished(member: Member, wishes: Wishes): Member {
    const wished = wishes.of(member.node)
    const join = this.#joins.get(member.incarnation)
    const weight = wished.weight ?? join?.weight ?? member.weight
    const isDraining = wished.isDraining
    const isLeaving =
      member.isLeaving || this.#leaves.has(member.incarnation) || wished.removedBy > (join?.wishesUpTo ?? Infinity)
    if (weight === member.weight && isDraining === member.isDraining && isLeaving === member.isLeaving) return member
    return { ...member, weight, isDraining, isLeaving }
  }
}

function said(member: Member): string {
  if (member.isLeaving) return 'leaves'
  return member.isDraining ? 'is drained' : `has weight ${member.weight}`
}
