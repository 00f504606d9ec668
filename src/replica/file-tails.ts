// What the files of a share have grown by from one batch to the next.
//
//   pages.jsonl   |───────── batch 41 ─────────|── batch 42 ──|··· not yet in a batch
//                                               └ the tail of batch 42
//
// A file that is written anew (failures.jsonl, when verdicts are taken back) has editions: another edition is sent whole.

import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'

/** What a batch says of a file. */
export interface FileState {
  /** 0 where there are none. */
  readonly edition: number
  readonly length: number
}

/** A growing file of the share, as its owner knows it. */
export interface ReplicaFile {
  /** As batches call it. */
  readonly name: string
  /** Null where a batch says nothing of it. */
  readonly stateOf: (said: unknown) => FileState | null
  /** Where an edition is that a batch speaks of, below the share's directory. */
  readonly pathOf: (dir: string, edition: number) => string
  /** Where one is written that begins: the one before must stay until a batch names the new one. */
  readonly newPathOf: (edition: number) => string
}

export type States = Readonly<Record<string, unknown>>

export interface Tail {
  readonly name: string
  readonly edition: number
  readonly at: number
  readonly end: number
  readonly path: string
}

/** A stretch of one file. */
export interface Slice {
  readonly name: string
  readonly edition: number
  readonly at: number
  readonly bytes: number
}

export function tailsBetween(files: readonly ReplicaFile[], dir: string, before: States, after: States): Tail[] {
  const tails: Tail[] = []
  for (const file of files) {
    const now = file.stateOf(after[file.name])
    if (now === null) continue
    const then = file.stateOf(before[file.name])
    const { edition, length: end } = now
    const at = then !== null && then.edition === edition ? then.length : 0
    const path = join(dir, file.pathOf(dir, edition))
    if (at > end) throw new Fault('LEDGER_CORRUPT', `${path} has ${end} bytes, but ${at} were committed`)
    if (end > at) tails.push({ name: file.name, edition, at, end, path })
  }
  return tails
}

/** Their bytes, in pieces of at most so many, which may hold ends of several files. They are in the cache: they were written a moment ago. */
export function* readTails(tails: readonly Tail[], pieceBytes: number): Generator<{ slices: Slice[]; bytes: Buffer }> {
  let left = tails.reduce((sum, { at, end }) => sum + end - at, 0)
  let piece = Buffer.allocUnsafe(Math.min(left, pieceBytes))
  let fill = 0
  let slices: Slice[] = []
  for (const { name, edition, at: start, end, path } of tails) {
    for (let at = start; at < end;) {
      const bytes = Math.min(end - at, piece.length - fill)
      readExactly(path, at, piece.subarray(fill, fill + bytes))
      slices.push({ name, edition, at, bytes })
      fill += bytes
      at += bytes
      if (fill < piece.length) continue
      yield { slices, bytes: piece }
      left -= fill
      piece = Buffer.allocUnsafe(Math.min(left, pieceBytes))
      fill = 0
      slices = []
    }
  }
}

function readExactly(path: string, from: number, into: Buffer): void {
  let file: number | null = null
  try {
    file = openSync(path, 'r')
    for (let done = 0; done < into.length;) {
      const count = readSync(file, into, done, into.length - done, from + done)
      if (count === 0) throw new Fault('LEDGER_CORRUPT', `${path} ends at byte ${from + done}, but more was committed`)
      done += count
    }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  } finally {
    if (file !== null) closeSync(file)
  }
}
