// Merges sources of sorted lines, each of which stands in memory piece by piece.
//
//     SOURCES   of each: where its present line begins, 4 │ where that ends, 4 │ the end of what is here, 4 │ unused, 4
//     HEAP      numbers of sources, 4 bytes each: the first has the line that comes next
//
// A line is present when its newline is.

import { compare, newlineFrom } from './lines'

const SOURCE: usize = 16
const LINE: usize = 0
const LINE_END: usize = 4
const END: usize = 8
const CELL: usize = 4

/** The output is full. */
const FULL: i32 = -1

let mergedBytes: i32 = 0

/** How many bytes the last call of merge() has written. */
export function merged(): i32 {
  return mergedBytes
}

/** The heap has the numbers of sources in any order, all of which have a whole line. */
export function begin(sources: usize, heap: usize, size: i32): void {
  for (let at = 0; at < size; at++) findLine(sources + (load<u32>(heap + (at as usize) * CELL) as usize) * SOURCE)
  for (let at = (size >> 1) - 1; at >= 0; at--) siftDown(sources, heap, size, at)
}

/** The first source has been given more, and has a whole line. */
export function resume(sources: usize, heap: usize, size: i32): void {
  findLine(sources + (load<u32>(heap) as usize) * SOURCE)
  siftDown(sources, heap, size, 0)
}

/** The first source has ended. `size`: without it. */
export function drop(sources: usize, heap: usize, size: i32): void {
  store<u32>(heap, load<u32>(heap + (size as usize) * CELL))
  siftDown(sources, heap, size, 0)
}

/** Writes lines until the output has no room for the next, or the first source has no whole line any more: its number. */
export function merge(sources: usize, heap: usize, size: i32, out: usize, outBytes: i32): i32 {
  const end = out + (outBytes as usize)
  let to = out
  let answer = FULL
  for (;;) {
    const number = load<u32>(heap)
    const source = sources + (number as usize) * SOURCE
    const line = load<u32>(source, LINE) as usize
    const bytes = (load<u32>(source, LINE_END) as usize) + 1 - line
    if (to + bytes > end) break
    memory.copy(to, line, bytes)
    to += bytes
    store<u32>(source, (line + bytes) as u32, LINE)
    if (!findLine(source)) {
      answer = number as i32
      break
    }
    siftDown(sources, heap, size, 0)
  }
  mergedBytes = (to - out) as i32
  return answer
}

/** Where the present line ends. False where that is not here. */
function findLine(source: usize): bool {
  const end = load<u32>(source, END) as usize
  const newline = newlineFrom(load<u32>(source, LINE) as usize, end)
  store<u32>(source, newline as u32, LINE_END)
  return newline < end
}

function siftDown(sources: usize, heap: usize, size: i32, from: i32): void {
  if (from >= size) return
  const moving = load<u32>(heap + (from as usize) * CELL)
  let at = from
  for (;;) {
    let child = 2 * at + 1
    if (child >= size) break
    let number = load<u32>(heap + (child as usize) * CELL)
    if (child + 1 < size) {
      const right = load<u32>(heap + ((child + 1) as usize) * CELL)
      if (comesBefore(sources, right, number)) {
        number = right
        child++
      }
    }
    if (!comesBefore(sources, number, moving)) break
    store<u32>(heap + (at as usize) * CELL, number)
    at = child
  }
  store<u32>(heap + (at as usize) * CELL, moving)
}

function comesBefore(sources: usize, one: u32, two: u32): bool {
  const a = sources + (one as usize) * SOURCE
  const b = sources + (two as usize) * SOURCE
  const lineA = load<u32>(a, LINE)
  const lineB = load<u32>(b, LINE)
  return compare(lineA as usize, load<u32>(a, LINE_END) - lineA, lineB as usize, load<u32>(b, LINE_END) - lineB) < 0
}
