// The heap against a sorted array.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { RestHeap, type Resting } from './rest-heap.ts'

interface Sleeper extends Resting {
  untilMs: number
}

const step = fc.record({
  kind: fc.constantFrom('push', 'push', 'pop', 'remove', 'move'),
  at: fc.nat({ max: 50 }),
  pick: fc.nat(),
})

test('whatever comes, goes and moves, the first to wake is always on top', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const heap = new RestHeap<Sleeper>()
      const inside: Sleeper[] = []
      for (const { kind, at, pick } of steps) {
        const chosen = inside[pick % Math.max(1, inside.length)]
        if (kind === 'push') {
          const sleeper = { untilMs: at, heapIndex: -1 }
          heap.push(sleeper, at)
          inside.push(sleeper)
        } else if (chosen !== undefined && kind === 'pop') {
          const first = heap.pop()
          expect(first.untilMs).toBe(Math.min(...inside.map((sleeper) => sleeper.untilMs)))
          inside.splice(inside.indexOf(first), 1)
        } else if (chosen !== undefined && kind === 'remove') {
          heap.remove(chosen)
          expect(chosen.heapIndex).toBe(-1)
          inside.splice(inside.indexOf(chosen), 1)
        } else if (chosen !== undefined) {
          chosen.untilMs = at
          heap.move(chosen, at)
        }
        heap.assertSound()
        expect(heap.size).toBe(inside.length)
        expect(heap.firstMs).toBe(Math.min(Infinity, ...inside.map((sleeper) => sleeper.untilMs)))
        expect(inside.every((sleeper) => heap.timeOf(sleeper) === sleeper.untilMs)).toBe(true)
      }
    }),
    { numRuns: 50 },
  )
})
