// Lines come out of the kernel as a plain sort of them has them, whatever bytes they are of and however they were read.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineHeap, type LineSource, mergedLines, ROOM_BYTES } from './line-kernel.ts'

const NEWLINE = Buffer.from('\n')

const joined = (lines: readonly Buffer[]): Buffer => Buffer.concat(lines.flatMap((line) => [line, NEWLINE]))
const sorted = (lines: readonly Buffer[]): Buffer[] => lines.toSorted((a, b) => Buffer.compare(a, b))

/** Of few bytes, zeros among them, so that lines share much, are each other's begin, and are equal. */
const close = fc.array(fc.constantFrom('\0', 'a', 'aaaaaaaa', 'aaaaaaab', '\0\0\0\0\0\0\0\0', 'ÿ'), { maxLength: 9 })
const any = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 11 : byte))))
const line = fc.oneof({ arbitrary: close.map((parts) => Buffer.from(parts.join(''), 'latin1')), weight: 3 }, any)

function drain(heap: LineHeap, keeps?: (one: string) => boolean): { bytes: Buffer; lines: number } {
  const pieces: Buffer[] = []
  const source = heap.sorted(keeps)
  for (;;) {
    const piece = source.next()
    if (piece.done === true) return { bytes: Buffer.concat(pieces), lines: piece.value }
    pieces.push(Buffer.from(piece.value))
  }
}

describe('sorting', () => {
  test('lines that were appended in any pieces come out in order, each as often as it came', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 400, size: 'max' }), fc.integer({ min: 1, max: 300 }), (lines, step) => {
        const heap = new LineHeap()
        const bytes = joined(lines)
        for (let at = 0; at < bytes.length; at += step) heap.append(bytes.subarray(at, at + step))
        expect(heap.lines).toBe(lines.length)
        expect(heap.memoryBytes).toBe(bytes.length + 16 * lines.length)
        expect(drain(heap)).toEqual({ bytes: joined(sorted(lines)), lines: lines.length })
        expect(heap.longest).toBe(Math.max(0, ...lines.map(({ length }) => length)))
      }),
      { numRuns: 300 },
    )
  })

  test('what is not a whole line yet stays for the next time, until its input ends', () => {
    const heap = new LineHeap()
    heap.append(Buffer.from('b\na\nrest of '))
    expect(drain(heap).bytes.toString()).toBe('a\nb\n')
    expect([heap.lines, heap.memoryBytes]).toEqual([0, 0])
    heap.append(Buffer.from('one\nand'))
    heap.endInput()
    heap.endInput()
    expect(drain(heap).bytes.toString()).toBe('and\nrest of one\n')
    expect(drain(heap)).toEqual({ bytes: Buffer.alloc(0), lines: 0 })
  })

  test('orders that make a sort slow do not make it deep or slow', () => {
    const number = (i: number): Buffer =>
      Buffer.from(`com,example)/some/way/that/all/of/them/share/${String(i).padStart(6, '0')}`)
    const up = Array.from({ length: 20_000 }, (_, i) => number(i))
    const orders = {
      up,
      down: up.toReversed(),
      equal: up.map(() => number(7)),
      organPipe: [...up.filter((_, i) => i % 2 === 0), ...up.filter((_, i) => i % 2 === 1).reverse()],
      // Each the begin of the next: one level for every eight bytes.
      begins: Array.from({ length: 5_000 }, (_, i) => Buffer.alloc(i, 97)),
    }
    for (const [name, lines] of Object.entries(orders)) {
      const heap = new LineHeap()
      heap.append(joined(lines))
      expect(drain(heap).bytes.equals(joined(sorted(lines))), name).toBe(true)
    }
  })

  test('lines that are not wanted are left out, and not counted', () => {
    const heap = new LineHeap()
    heap.append(joined(['c', 'no b', '', 'no', 'a', 'ÿ'].map((text) => Buffer.from(text, 'latin1'))))
    const seen: string[] = []
    const { bytes, lines } = drain(heap, (one) => seen.push(one) > 0 && !one.startsWith('no'))
    expect(seen).toEqual(['c', 'no b', '', 'no', 'a', 'ÿ'])
    expect([bytes.toString('latin1'), lines]).toEqual(['\na\nc\nÿ\n', 4])
  })

  test('a line longer than what is written at once is written whole', () => {
    const heap = new LineHeap()
    const lines = [Buffer.alloc(3_000_000, 98), Buffer.from('a'), Buffer.alloc(1_100_000, 98), Buffer.from('c')]
    heap.append(joined(lines))
    expect(drain(heap).bytes.equals(joined(sorted(lines)))).toBe(true)
    expect(heap.longest).toBe(3_000_000)
  })
})

/** Gives at most so many bytes at a time. */
function sourceOf(bytes: Buffer, step: number): LineSource {
  let at = 0
  return {
    read: async (into) => {
      const taken = bytes.copy(into, 0, at, Math.min(bytes.length, at + step))
      at += taken
      return taken
    },
  }
}

async function mergeAll(sources: readonly LineSource[], longest: number): Promise<{ bytes: Buffer; lines: number }> {
  const pieces: Buffer[] = []
  const merged = mergedLines(sources, longest)
  for (;;) {
    const piece = await merged.next()
    if (piece.done === true) return { bytes: Buffer.concat(pieces), lines: piece.value }
    pieces.push(Buffer.from(piece.value))
  }
}

describe('merging', () => {
  test('sorted sources that are read in any pieces become one', async () => {
    const lists = fc.array(fc.array(line, { maxLength: 40 }), { maxLength: 7 })
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 100 }), async (lines, step) => {
        const sources = lines.map((one) => sourceOf(joined(sorted(one)), step))
        const all = lines.flat()
        const longest = Math.max(0, ...all.map(({ length }) => length))
        expect(await mergeAll(sources, longest)).toEqual({ bytes: joined(sorted(all)), lines: all.length })
      }),
      { numRuns: 200 },
    )
  })

  test('sources of more than one room, and more than is written at once, with a line that fills a room', async () => {
    const lists = [0, 1, 2].map((which) =>
      Array.from({ length: 30_000 }, (_, i) =>
        Buffer.from(`${String((i * 7_919) % 30_011).padStart(30, '0')} ${which}`),
      ),
    )
    lists[1]?.push(Buffer.alloc(ROOM_BYTES + 100, 48))
    const sources = lists.map((one) => sourceOf(joined(sorted(one)), 2 ** 20))
    const { bytes, lines } = await mergeAll(sources, ROOM_BYTES + 100)
    expect(lines).toBe(90_001)
    expect(bytes.equals(joined(sorted(lists.flat())))).toBe(true)
  })

  test('a source that ends in the middle of a line is not believed', async () => {
    for (const text of ['a\nb', 'b']) {
      const sources = [sourceOf(Buffer.from('a\n'), 9), sourceOf(Buffer.from(text), 9)]
      await expect(mergeAll(sources, 9)).rejects.toThrow('ends in the middle of a line')
    }
  })
})
