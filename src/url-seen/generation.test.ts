// A generation takes little memory for little, and forgets nothing when it spreads.

import { expect, test } from 'vitest'
import { Generation } from './generation.ts'

/** Spread evenly, as fingerprints are; `i` can be told from neither half. */
function mixed(i: number, salt: number): number {
  let bits = Math.imul(i + salt, 0x9e37_79b1)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

const high = (i: number): number => mixed(i, 1)
const low = (i: number): number => mixed(i, 0x5bd1_e995)

function meet(generation: Generation, i: number): boolean {
  generation.reserve(1)
  const place = generation.find(high(i), low(i))
  const isNew = generation.isFree(place)
  if (isNew) generation.take(place, high(i), low(i))
  generation.count(place, 1)
  return isNew
}

test('what was taken stands with its meetings after every spreading, up to the last place', () => {
  const generation = new Generation(4 * 2 ** 20)
  const { sizeMax } = generation
  const sizes = new Set<number>()
  let wrong = 0
  for (let i = 0; i < sizeMax; i++) {
    if (!meet(generation, i)) wrong++
    if (i % 3 === 0 && meet(generation, i)) wrong++
    if (i % 7 === 0) generation.setKnown(generation.find(high(i), low(i)))
    sizes.add(generation.memoryBytes)
  }
  expect(generation.size).toBe(sizeMax)
  expect([...sizes]).toEqual([2 ** 14, 2 ** 17, 2 ** 18].map((places) => places * 11))
  for (let i = 0; i < sizeMax; i++) if (generation.meetings(high(i), low(i)) !== (i % 3 === 0 ? 2 : 1)) wrong++
  expect(wrong).toBe(0)
  let fresh = 0
  generation.visitNew(() => fresh++)
  expect(fresh).toBe(Array.from({ length: sizeMax }, (_, i) => i).filter((i) => i % 7 !== 0).length)
})

test('a cleared generation holds nothing and takes as much again', () => {
  const generation = new Generation(2 ** 20)
  for (let i = 0; i < generation.sizeMax; i++) meet(generation, i)
  generation.clear()
  expect(generation.holds(high(5), low(5))).toBe(false)
  let fresh = 0
  for (let i = 0; i < generation.sizeMax; i++) if (meet(generation, i)) fresh++
  expect(fresh).toBe(generation.sizeMax)
})
