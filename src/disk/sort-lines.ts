// Sorts the lines of files that may be larger than memory, by byte order.
//
//    inputs ──▶ as much as fits, sorted ──▶ run 0, run 1, … ──▶ merge (≤ 256 at a time) ──▶ output
//
// Lines are sorted and merged where they are read to, in the memory of a kernel (line-kernel.ts). The output appears under its name only
// when it is whole and synced. An input whose last line lacks its newline is given one. Equal lines are all kept.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { diskFault } from '../base/index.ts'
import { moveDurably, syncFile } from './atomic-file.ts'
import { LineHeap, type LineSource, mergedLines } from './line-kernel.ts'
import { readPieces } from './read-pieces.ts'

export interface SortOptions {
  /** Text held in memory at a time, with its index. */
  readonly memoryBytes?: number
  /** Runs merged at a time. */
  readonly fanIn?: number
  /** Which lines, as one-byte strings, stay; all unless given. */
  readonly keeps?: (line: string) => boolean
}

/** More takes as long and needs the memory: what does not fit a processor's cache is slow to sort. */
const MEMORY_BYTES = 16 * 2 ** 20
/** 4 GiB of lines are merged at once. */
const FAN_IN = 256

export async function sortLines(
  inputs: readonly string[],
  output: string,
  options: SortOptions = {},
): Promise<{ readonly lines: number }> {
  const fanIn = Math.max(2, options.fanIn ?? FAN_IN)
  const runs: string[] = []
  let runCount = 0
  const newRun = (): string => {
    const path = `${output}.run-${runCount++}`
    runs.push(path)
    return path
  }
  try {
    const { lines, longest } = await makeRuns(inputs, newRun, options)
    while (runs.length > fanIn) {
      const merging = runs.slice(0, fanIn)
      await merge(merging, newRun(), longest)
      runs.splice(0, fanIn)
      await Promise.all(merging.map((path) => rm(path)))
    }
    // All that fitted into memory is sorted already.
    const [only] = runs
    const whole = only !== undefined && runs.length === 1 ? only : `${output}.new`
    const written = whole === only ? lines : await merge(runs, whole, longest)
    // Runs are not synced, so the disk may have failed to keep one without a word.
    if (written !== lines) throw new Error(`of ${lines} sorted lines ${written} came back from the disk`)
    await syncFile(whole)
    await moveDurably(whole, output)
    return { lines }
  } catch (cause) {
    await rm(`${output}.new`, { force: true })
    throw diskFault(`sorting into ${output}`, cause)
  } finally {
    await Promise.all(runs.map((path) => rm(path, { force: true })))
  }
}

async function makeRuns(
  inputs: readonly string[],
  newRun: () => string,
  { memoryBytes = MEMORY_BYTES, keeps }: SortOptions,
): Promise<{ readonly lines: number; readonly longest: number }> {
  const heap = new LineHeap()
  let lines = 0
  const spill = async (): Promise<void> => {
    lines += await writePieces(newRun(), heap.sorted(keeps))
  }
  for (const input of inputs) {
    for await (const piece of readPieces(input)) {
      heap.append(piece)
      if (heap.memoryBytes >= memoryBytes) await spill()
    }
    heap.endInput()
  }
  if (heap.lines > 0) await spill()
  return { lines, longest: heap.longest }
}

async function merge(inputs: readonly string[], output: string, longest: number): Promise<number> {
  const handles: FileHandle[] = []
  try {
    for (const path of inputs) handles.push(await open(path))
    return await writePieces(output, mergedLines(handles.map(sourceOf), longest))
  } finally {
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

function sourceOf(handle: FileHandle): LineSource {
  return { read: async (into) => (await handle.read(into, 0, into.length, null)).bytesRead }
}

/** Without a sync: most runs are read once and removed. Returns what the pieces end with. */
async function writePieces(
  path: string,
  pieces: Generator<Buffer, number> | AsyncGenerator<Buffer, number>,
): Promise<number> {
  const file = await open(path, 'w')
  try {
    for (;;) {
      const piece = await pieces.next()
      if (piece.done === true) return piece.value
      // From where the last one ended, and all of it.
      await file.writeFile(piece.value)
    }
  } finally {
    await file.close()
  }
}
