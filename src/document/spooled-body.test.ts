// A body gives back what it was given, whatever the pieces, on either side of the memory limit; it
// stops at its limit, leaves no file behind and closes what it opened.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fault } from '../base/index.ts'
import { Spool } from './spool.ts'
import { SpooledBody } from './spooled-body.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'portolan-spool-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const openDescriptors = (): number => readdirSync('/proc/self/fd').length
const joined = (body: SpooledBody): Buffer => Buffer.concat([...body.chunks()].map((chunk) => Buffer.from(chunk)))

function filled(bytes: Uint8Array, memoryMax: number, lengthMax = Number.MAX_SAFE_INTEGER): SpooledBody {
  const body = new SpooledBody(new Spool(directory, memoryMax), lengthMax)
  for (let at = 0; at < bytes.length; at += 1000) body.append(bytes.subarray(at, at + 1000))
  body.finish()
  return body
}

test('a body gives back its bytes whatever the pieces and wherever they lie', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
      fc.nat(2000),
      fc.nat(3000),
      (pieces, memoryMax, lengthMax) => {
        const body = new SpooledBody(new Spool(directory, memoryMax), lengthMax)
        const all = Buffer.concat(pieces)
        const kept = all.subarray(0, lengthMax)
        let taken = 0
        for (const piece of pieces) taken += body.append(piece)
        body.finish()
        expect(taken).toBe(kept.length)
        expect(body.length).toBe(kept.length)
        expect(Buffer.from(body.bytes())).toEqual(kept)
        expect(joined(body)).toEqual(kept)
        expect(Buffer.from(body.bytes(7))).toEqual(kept.subarray(0, 7))
        body.release()
      },
    ),
    { numRuns: 200 },
  )
})

test('bytes that are only lent are taken as they were, mixed with others, whatever was expected', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.uint8Array({ maxLength: 900 }), fc.boolean()), { maxLength: 20 }),
      fc.nat(4000),
      fc.nat(6000),
      fc.nat(6000),
      (pieces, memoryMax, lengthMax, expected) => {
        const spool = new Spool(directory, memoryMax)
        const bodies = [0, 1].map(() => new SpooledBody(spool, lengthMax, expected))
        const kept = Buffer.concat(pieces.map(([piece]) => piece)).subarray(0, lengthMax)
        const lent = Buffer.alloc(1000)
        for (const [piece, isLent] of pieces) {
          for (const body of bodies) {
            if (!isLent) body.append(Buffer.from(piece))
            else {
              lent.set(piece, 3)
              body.appendCopy(lent, 3, 3 + piece.length)
              lent.fill('!')
            }
          }
        }
        for (const body of bodies) {
          body.finish()
          expect(body.length).toBe(kept.length)
          expect(joined(body)).toEqual(kept)
          expect(Buffer.from(body.bytes())).toEqual(kept)
          body.release()
        }
        spool.close()
      },
    ),
    { numRuns: 300 },
  )
})

test('a body of the length it was said to have is copied once', () => {
  const body = new SpooledBody(new Spool(directory, 10_000), 10_000, 5_000)
  for (let i = 0; i < 5; i++) body.appendCopy(Buffer.alloc(1_000, String(i)), 0, 1_000)
  body.finish()
  expect([...body.chunks()]).toHaveLength(1)
  expect(body.bytes()).toHaveLength(5_000)
})

test('several readers at once do not disturb each other', () => {
  for (const memoryMax of [10, 1_000_000]) {
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7) & 0xff))
    const body = filled(bytes, memoryMax)
    const seen: Buffer[][] = [[], []]
    const readers = [body.chunks()[Symbol.iterator](), body.chunks()[Symbol.iterator]()]
    for (let isAnyLeft = true; isAnyLeft;) {
      isAnyLeft = false
      for (const [index, reader] of readers.entries()) {
        const next = reader.next()
        if (next.done !== true) {
          seen[index]!.push(Buffer.from(next.value))
          isAnyLeft = true
          expect(next.value.length).toBeLessThanOrEqual(64 * 1024)
        }
        // Joining the pieces under the eyes of a reader changes nothing for it.
        body.bytes()
      }
    }
    expect(Buffer.concat(seen[0]!)).toEqual(bytes)
    expect(Buffer.concat(seen[1]!)).toEqual(bytes)
    body.release()
  }
})

test('a body of one piece is not copied, and several are joined once', () => {
  const piece = Buffer.from('one piece')
  expect(SpooledBody.of(piece, new Spool(directory, 100)).bytes()).toBe(piece)
  const body = filled(Buffer.alloc(5000), 10_000)
  expect(body.bytes()).toBe(body.bytes())
  expect(body.bytes(10).buffer).toBe(body.bytes().buffer)
})

test('a body at the memory limit opens no file, one byte more does, and no file has a name', () => {
  const before = openDescriptors()
  const small = filled(Buffer.alloc(3000), 3000)
  expect(openDescriptors()).toBe(before)
  const large = filled(Buffer.alloc(3001), 3000)
  expect(openDescriptors()).toBe(before + 1)
  expect(readdirSync(directory)).toEqual([])
  large.release()
  large.release()
  small.release()
})

test('large bodies stay in memory while there is room for all of them, and go to files beyond', () => {
  const before = openDescriptors()
  const spool = new Spool(directory, 1_000, 10_000)
  const bodyOf = (size: number): SpooledBody => {
    const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER)
    for (let at = 0; at < size; at += 500) body.appendCopy(Buffer.alloc(500, size), 0, Math.min(500, size - at))
    body.finish()
    expect(Buffer.alloc(size, size).equals(body.bytes())).toBe(true)
    return body
  }
  const first = bodyOf(6_000)
  const second = bodyOf(4_000)
  expect(openDescriptors()).toBe(before)
  const third = bodyOf(1_001)
  expect(openDescriptors()).toBe(before + 1)
  // What it never had it cannot give back; what others give back is there for the next.
  third.release()
  first.release()
  first.release()
  const fourth = bodyOf(6_000)
  expect(openDescriptors()).toBe(before + 1)
  const fifth = bodyOf(7_000)
  expect(openDescriptors()).toBe(before + 1)
  for (const body of [second, fourth, fifth]) body.release()
  expect(spool.reserve(10_000)).toBe(true)
  expect(spool.reserve(1)).toBe(false)
  spool.close()
  expect(openDescriptors()).toBe(before)
})

test('a body that is said to be large takes what it is said to be at once, and gives back what it did not need', () => {
  const spool = new Spool(directory, 1_000, 100_000)
  const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER, 90_000)
  body.appendCopy(Buffer.alloc(10, 1), 0, 10)
  expect(spool.reserve(10_001)).toBe(false)
  body.finish()
  expect(body.bytes()).toHaveLength(10)
  body.release()
  expect(spool.reserve(100_000)).toBe(true)
})

test('a large body that came in pieces is one when it is whole', () => {
  const spool = new Spool(directory, 64 * 1024, 2 ** 20)
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7) & 0xff))
  const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER)
  for (let at = 0; at < bytes.length; at += 9_000) {
    if (at % 2 === 0) body.appendCopy(bytes, at, Math.min(bytes.length, at + 9_000))
    else body.append(bytes.subarray(at, at + 9_000))
  }
  body.finish()
  expect(bytes.equals(body.bytes())).toBe(true)
  expect(body.bytes(10).buffer).toBe(body.bytes().buffer)
  expect(Buffer.concat([...body.chunks()]).equals(bytes)).toBe(true)
  body.release()
})

test('memory of large bodies is used again by the next ones', () => {
  const spool = new Spool(directory, 64 * 1024, 8 * 2 ** 20)
  const places = new Set<ArrayBufferLike>()
  // One that is far larger than the others leaves nothing that would keep them from it.
  const huge = new SpooledBody(spool, Number.MAX_SAFE_INTEGER)
  for (let i = 0; i < 70; i++) huge.appendCopy(Buffer.alloc(64 * 1024), 0, 64 * 1024)
  huge.finish()
  huge.release()
  for (let i = 0; i < 100; i++) {
    const bytes = Buffer.alloc(100_000 + i, i)
    const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER, bytes.length)
    for (let at = 0; at < bytes.length; at += 30_000) body.appendCopy(bytes, at, Math.min(bytes.length, at + 30_000))
    body.finish()
    expect(bytes.equals(body.bytes())).toBe(true)
    places.add(body.bytes().buffer)
    body.release()
  }
  expect(places.size).toBe(1)
})

test('a file given back is used again, empty, and closed with its spool', () => {
  const before = openDescriptors()
  const spool = new Spool(directory, 10)
  const bodyOf = (bytes: Buffer): SpooledBody => {
    const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER)
    body.append(bytes)
    body.finish()
    return body
  }
  const first = bodyOf(Buffer.alloc(5_000, 'a'))
  first.release()
  expect(openDescriptors()).toBe(before + 1)
  const second = bodyOf(Buffer.from('shorter than before'))
  expect(openDescriptors()).toBe(before + 1)
  expect(Buffer.from(second.bytes()).toString()).toBe('shorter than before')
  const third = bodyOf(Buffer.alloc(50, 'c'))
  expect(openDescriptors()).toBe(before + 2)
  second.release()
  spool.close()
  expect(openDescriptors()).toBe(before + 1)
  third.release()
  expect(openDescriptors()).toBe(before)
})

test('bodies that share memory never see bytes of another, in whatever order they come, are read and are released', () => {
  // Some share a slab, some are too large for that, some have several pieces, some find no room and go to a file, some are released twice.
  const sizes = fc.oneof(fc.nat(2_000), fc.integer({ min: 20_000, max: 150_000 }))
  const steps = fc.array(fc.record({ size: sizes, expected: fc.nat(150_000), releases: fc.nat(40) }), {
    maxLength: 300,
  })
  fc.assert(
    fc.property(steps, (bodies) => {
      const spool = new Spool(directory, 64 * 1024, 2 ** 20)
      const live: { body: SpooledBody; mark: number; size: number }[] = []
      bodies.forEach(({ size, expected, releases }, mark) => {
        const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER, expected)
        const source = Buffer.alloc(size, mark)
        for (let at = 0; at < size; at += 7_000) body.appendCopy(source, at, Math.min(size, at + 7_000))
        body.finish()
        live.push({ body, mark, size })
        if (releases < live.length) {
          const [gone] = live.splice(releases, 1)
          gone?.body.release()
          gone?.body.release()
        }
      })
      for (const { body, mark, size } of live) expect(Buffer.alloc(size, mark).equals(body.bytes())).toBe(true)
      spool.close()
      for (const { body } of live) body.release()
    }),
    { numRuns: 60 },
  )
})

test('bodies that come and go are cut from the same memory again and again', () => {
  const spool = new Spool(directory, 64 * 1024)
  const places = new Set<ArrayBufferLike>()
  const page = Buffer.alloc(14_000, 1)
  const live: SpooledBody[] = []
  for (let i = 0; i < 5_000; i++) {
    const body = new SpooledBody(spool, Number.MAX_SAFE_INTEGER, page.length)
    body.appendCopy(page, 0, page.length)
    body.finish()
    places.add(body.bytes().buffer)
    live.push(body)
    if (live.length > 64) live.shift()?.release()
  }
  // 65 bodies of 14 kB are four slabs; one is being cut and one is partly free.
  expect(places.size).toBeLessThan(8)
})

test('a body at its limit is whole, one byte more is cut', () => {
  const body = new SpooledBody(new Spool(directory, 100), 10)
  expect(body.append(Buffer.alloc(6))).toBe(6)
  expect(body.append(Buffer.alloc(4))).toBe(4)
  expect(body.append(Buffer.alloc(1))).toBe(0)
  expect(body.length).toBe(10)
})

test('using a body out of turn is a fault of ours', () => {
  const body = filled(Buffer.alloc(10), 100)
  expect(() => body.append(Buffer.alloc(1))).toThrow(Fault)
  const arriving = new SpooledBody(new Spool(directory, 100), 100)
  arriving.append(Buffer.alloc(10))
  expect(() => arriving.bytes()).toThrow(Fault)
  expect(() => [...arriving.chunks()]).toThrow(Fault)
  body.release()
  expect(() => body.bytes()).toThrow(Fault)
  expect(() => [...body.chunks()]).toThrow(Fault)
})

test('a directory that cannot be written is a fault that names it', () => {
  const body = new SpooledBody(new Spool('/proc/no-such-place', 1), 10)
  expect(() => body.append(Buffer.alloc(2))).toThrow(/\/proc\/no-such-place/)
})
