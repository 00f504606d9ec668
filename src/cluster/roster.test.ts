// Who should be in the next view, and that whoever left does not come back.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Join, Member, View, Wish } from './records.ts'
import { MEMBERS_MAX, Roster } from './roster.ts'
import { WISHED_NODES_MAX, Wishes } from './wishes.ts'

const ALL_LIVE = { isDead: () => false, isAlive: () => true }

function join(node: string, incarnation: string, more: Partial<Join> = {}): Join {
  return { node, incarnation, weight: 1, version: '0', host: 'h', at: '', replaces: [], wishesUpTo: 0, ...more }
}

function member(node: string, incarnation: string, more: Partial<Member> = {}): Member {
  return { node, incarnation, weight: 1, isDraining: false, isLeaving: false, ...more }
}

function view(number: number, members: readonly Member[]): View {
  return { number, members, wishesUpTo: 0, by: '', because: '', at: '' }
}

function wishing(...wishes: Pick<Wish, 'kind' | 'node' | 'weight'>[]): Wishes {
  const sum = new Wishes()
  for (const [index, wish] of wishes.entries()) sum.add(index + 1, { by: '', at: '', ...wish })
  return sum
}

test('a pause holds over a stop and a new run, until an operator ends it', () => {
  const wishes = wishing({ kind: 'pause', node: null }, { kind: 'stop', node: null }, { kind: 'go', node: null })
  expect(wishes).toMatchObject({ isPaused: true, isStopping: false, run: 2 })
  expect(wishing({ kind: 'pause', node: null }, { kind: 'unpause', node: null }).isPaused).toBe(false)
})

test('whoever joins and lives is added at the end; whoever is dead is dropped; a right view needs no other', () => {
  const roster = new Roster()
  roster.hearView(view(1, [member('ada', 'a1'), member('bea', 'b1')]), 0)
  expect(roster.next(new Wishes(), ALL_LIVE, null)).toBeNull()
  roster.hearJoin(join('cai', 'c1', { weight: 3 }))
  const next = roster.next(new Wishes(), { isDead: (one) => one === 'a1', isAlive: () => true }, null)
  expect(next).toEqual({
    members: [member('bea', 'b1'), member('cai', 'c1', { weight: 3 })],
    because: 'ada is dead, cai joins',
  })
  expect(roster.next(new Wishes(), { isDead: () => false, isAlive: () => false }, null)).toBeNull()
})

test('of two who join with one name the first gets in; a later life replaces only what it says is over', () => {
  const roster = new Roster()
  roster.hearJoin(join('ada', 'a1'))
  roster.hearJoin(join('ada', 'a2'))
  expect(roster.next(new Wishes(), ALL_LIVE, null)?.members).toEqual([member('ada', 'a1')])
  roster.hearView(view(1, [member('ada', 'a1')]), 0)
  expect(roster.next(new Wishes(), ALL_LIVE, null)).toBeNull()
  roster.hearJoin(join('ada', 'a3', { replaces: ['a1'] }))
  const next = roster.next(new Wishes(), { isDead: () => false, isAlive: (one) => one === 'a3' }, null)
  expect(next?.members).toEqual([member('ada', 'a3')])
})

test('whoever is in no view any more never comes back, and it is known since when', () => {
  const roster = new Roster()
  roster.hearJoin(join('ada', 'a1'))
  roster.hearView(view(1, [member('ada', 'a1')]), 10)
  roster.hearView(view(2, []), 20)
  roster.hearJoin(join('ada', 'a1'))
  expect(roster.next(new Wishes(), ALL_LIVE, null)).toBeNull()
  expect(roster.departedMs('a1')).toBe(20)
})

test('views are taken in order, each once', () => {
  const roster = new Roster()
  expect(roster.hearView(view(2, []), 0)).toBe(false)
  expect(roster.hearView(view(1, [member('ada', 'a1')]), 0)).toBe(true)
  expect(roster.hearView(view(1, []), 0)).toBe(false)
  expect(roster.view.members).toHaveLength(1)
})

test('a drain outlives the node; a removal does not', () => {
  const roster = new Roster()
  roster.hearJoin(join('ada', 'a1'))
  roster.hearView(view(1, [member('ada', 'a1')]), 0)
  const drained = wishing({ kind: 'drain', node: 'ada' })
  expect(roster.next(drained, ALL_LIVE, null)?.members).toEqual([member('ada', 'a1', { isDraining: true })])
  roster.hearView(view(2, []), 0)
  roster.hearJoin(join('ada', 'a2', { wishesUpTo: 1 }))
  expect(roster.next(drained, ALL_LIVE, null)?.members).toEqual([member('ada', 'a2', { isDraining: true })])
  const removed = wishing({ kind: 'drain', node: 'ada' }, { kind: 'remove', node: 'ada' })
  expect(roster.next(removed, ALL_LIVE, null)).toBeNull()
  roster.hearJoin(join('ada', 'a3', { wishesUpTo: 2 }))
  expect(roster.next(removed, { ...ALL_LIVE, isAlive: (one) => one === 'a3' }, null)?.members).toEqual([
    member('ada', 'a3'),
  ])
})

test('a view has at most so many members', () => {
  const roster = new Roster()
  for (let i = 0; i < MEMBERS_MAX + 3; i++) roster.hearJoin(join(`n${i}`, `i${i}`))
  expect(roster.next(new Wishes(), ALL_LIVE, null)?.members).toHaveLength(MEMBERS_MAX)
})

test('the next view, once it is taken, is right: nobody makes another', () => {
  const nodes = ['ada', 'bea', 'cai']
  const wish = fc.record({
    kind: fc.constantFrom('drain', 'resume', 'remove', 'weight', 'stop', 'go'),
    node: fc.constantFrom(...nodes),
    weight: fc.integer({ min: 1, max: 5 }),
  })
  fc.assert(
    fc.property(
      fc.array(wish, { maxLength: 8 }),
      fc.array(fc.tuple(fc.constantFrom(...nodes), fc.integer({ min: 0, max: 8 })), { maxLength: 8 }),
      fc.func(fc.boolean()),
      (wishes, joins, chance) => {
        const roster = new Roster()
        const sum = wishing(...wishes)
        for (const [index, [node, wishesUpTo]] of joins.entries())
          roster.hearJoin(join(node, `i${index}`, { wishesUpTo }))
        const life = { isDead: (one: string) => chance(`dead ${one}`), isAlive: (one: string) => chance(one) }
        const living = { isDead: life.isDead, isAlive: (one: string) => life.isAlive(one) && !life.isDead(one) }
        const next = roster.next(sum, living, null)
        if (next === null) return
        roster.hearView(view(1, next.members), 0)
        expect(roster.next(sum, living, null)).toBeNull()
        expect(new Set(next.members.map(({ node }) => node)).size).toBe(next.members.length)
      },
    ),
  )
})

test('wishes are added up in order, none is left out; nodes that were mentioned long ago are forgotten', () => {
  const sum = wishing(
    { kind: 'stop', node: null },
    { kind: 'go', node: null },
    { kind: 'weight', node: 'ada', weight: 4 },
  )
  expect(sum.add(5, { kind: 'stop', node: null, by: '', at: '' })).toBe(false)
  expect([sum.upTo, sum.run, sum.isStopping, sum.of('ada').weight]).toEqual([3, 2, false, 4])
  for (let i = 0; i < WISHED_NODES_MAX; i++) sum.add(4 + i, { kind: 'drain', node: `n${i}`, by: '', at: '' })
  expect(sum.of('ada').weight).toBeNull()
  expect(sum.of('n0').isDraining).toBe(true)
})
