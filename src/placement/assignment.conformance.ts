// What every assignment must be: a function of who takes part, contravariant, and the same for all who look.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Assignment, highestAffinity, type Member } from './assignment.ts'

/** Few enough to try many views; what is true of a point is true of it whatever the others are. */
const POINTS = 1_024

const member = (id: number): fc.Arbitrary<Member> =>
  fc.constantFrom(0.5, 1, 1, 1, 2, 3, 8).map((weight) => ({ id, weight }))

/** At least one, with different ids, in any order. */
const memberList = fc
  .uniqueArray(fc.oneof(fc.nat(20), fc.nat(2 ** 32 - 1)), { minLength: 1, maxLength: 7 })
  .chain((ids) => fc.tuple(...ids.map(member)))

export function assignmentConformance(assignment: Assignment): void {
  const ownersOf = (members: readonly Member[]): number[] =>
    Array.from(assignment.owners(POINTS, members), (place) => (members[place] as Member).id)

  describe(`as any assignment (${assignment.name})`, () => {
    test('the owner of a point is the one with the highest affinity to it', () => {
      fc.assert(
        fc.property(memberList, fc.constantFrom(1, 3, 16, POINTS), (members, points) => {
          expect(assignment.owners(points, members)).toEqual(highestAffinity(assignment, points, members))
        }),
        { numRuns: 60 },
      )
    })

    test('an affinity depends on the point and the member alone, so views cannot disagree about it', () => {
      const [first, again] = [1, 1].map((weight) => assignment.affinities(POINTS, { id: 77, weight }))
      expect(again).toEqual(first)
      expect(assignment.affinities(POINTS, { id: 78, weight: 1 })).not.toEqual(first)
    })

    test('whoever joins takes points from others, and none changes hands between those', () => {
      fc.assert(
        fc.property(memberList, (members) => {
          fc.pre(members.length > 1)
          const joiner = members[0] as Member
          const before = ownersOf(members.slice(1))
          const after = ownersOf(members)
          expect(after.every((owner, point) => owner === before[point] || owner === joiner.id)).toBe(true)
        }),
        { numRuns: 60 },
      )
    })

    test('two whose views differ by some members disagree only about points of those', () => {
      fc.assert(
        fc.property(memberList, fc.infiniteStream(fc.boolean()), (members, stream) => {
          const seenByOne = members.filter(() => stream.next().value)
          fc.pre(seenByOne.length > 0 && seenByOne.length < members.length)
          const unseen = new Set(members.filter((one) => !seenByOne.includes(one)).map(({ id }) => id))
          const [all, some] = [ownersOf(members), ownersOf(seenByOne)]
          expect(all.every((owner, point) => owner === some[point] || unseen.has(owner))).toBe(true)
        }),
        { numRuns: 60 },
      )
    })

    test('more weight takes points and gives none away', () => {
      fc.assert(
        fc.property(memberList, (members) => {
          const heavier = members.map((one, place) => (place === 0 ? { ...one, weight: one.weight * 2 } : one))
          const before = ownersOf(members)
          const after = ownersOf(heavier)
          expect(after.every((owner, point) => owner === before[point] || owner === members[0]?.id)).toBe(true)
        }),
        { numRuns: 50 },
      )
    })

    test('the order in which members are named does not matter', () => {
      fc.assert(
        fc.property(memberList, fc.nat(), (members, turn) => {
          const other = [...members.slice(turn % members.length), ...members.slice(0, turn % members.length)]
          expect(ownersOf(other)).toEqual(ownersOf(members))
          expect(ownersOf(members.toReversed())).toEqual(ownersOf(members))
        }),
        { numRuns: 50 },
      )
    })
  })
}
