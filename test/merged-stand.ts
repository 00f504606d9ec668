// Files that are merged, and who writes them: for tests of the room `view`.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type CommittedLengths, MergedLines } from '../src/view/index.ts'

export const DAMAGES = ['cursor', 'cursor torn', 'merged', 'merged end'] as const
type Damage = (typeof DAMAGES)[number]

/** Sources that write, commit and take back, as agents do, and the merged file with its cursor. */
export class Stand {
  readonly dir: string
  readonly merged: string
  readonly cursor: string
  readonly names: readonly string[]
  readonly #editions: number[]
  readonly #committed: number[]
  #lines = 0

  constructor(parent: string, sources = 2) {
    this.dir = mkdtempSync(join(parent, 'stand-'))
    this.merged = join(this.dir, 'merged')
    this.cursor = join(this.dir, 'cursor')
    this.names = Array.from({ length: sources }, (_, i) => `share ${i}`)
    this.#editions = this.names.map(() => 0)
    this.#committed = this.names.map(() => 0)
  }

  path(source: number): string {
    return join(this.dir, `source-${source}`)
  }

  open(): Promise<MergedLines> {
    const sources = this.names.map((name, i) => ({
      name,
      path: this.path(i),
      editionPath: (edition: number) => `${this.path(i)}-${edition}`,
    }))
    return MergedLines.open({ path: this.merged, cursorPath: this.cursor, sources })
  }

  /** Lines that no other equals, of these lengths; what a crash left behind the committed ones goes first. */
  write(source: number, lengths: readonly number[], tail = ''): void {
    this.#publish(source)
    if (existsSync(this.path(source))) truncateSync(this.path(source), this.#committed[source])
    const text = lengths.map((length) => `${source}:${this.#lines++}:${'é'.repeat(length)}\n`).join('')
    appendFileSync(this.path(source), text + tail)
    this.#committed[source] = (this.#committed[source] ?? 0) + Buffer.byteLength(text)
  }

  /** As a repair does: the last lines did not happen. */
  cutBack(source: number, lines: number): void {
    this.#publish(source)
    const kept = this.#linesOf(source).slice(0, -lines).join('')
    truncateSync(this.path(source), Buffer.byteLength(kept))
    this.#committed[source] = Buffer.byteLength(kept)
  }

  /** A new edition, without the lines that are taken back. */
  takeBack(source: number, isKept: (index: number) => boolean, published = true): void {
    this.#publish(source)
    const kept = this.#linesOf(source)
      .filter((_, index) => isKept(index))
      .join('')
    const edition = (this.#editions[source] ?? 0) + 1
    writeFileSync(published ? this.path(source) : `${this.path(source)}-${edition}`, kept)
    this.#editions[source] = edition
    this.#committed[source] = Buffer.byteLength(kept)
  }

  get states(): CommittedLengths {
    return Object.fromEntries(
      this.names.map((name, i) => [name, { length: this.#committed[i] ?? 0, edition: this.#editions[i] ?? 0 }]),
    )
  }

  /** Gives an edition the file's own name. */
  #publish(source: number): void {
    const edition = `${this.path(source)}-${this.#editions[source]}`
    if (existsSync(edition)) renameSync(edition, this.path(source))
  }

  #linesOf(source: number): string[] {
    const edition = `${this.path(source)}-${this.#editions[source]}`
    const path = existsSync(edition) ? edition : this.path(source)
    if (!existsSync(path)) return []
    return splitLines(readFileSync(path).subarray(0, this.#committed[source]).toString())
  }

  /** Each line once, those of a source in their order, and nothing else. */
  check(): void {
    const found = splitLines(readFileSync(this.merged, 'utf8'))
    const bySource = this.names.map((_, i) => found.filter((line) => line.startsWith(`${i}:`)))
    expect(bySource).toEqual(this.names.map((_, i) => this.#linesOf(i)))
    expect(found).toHaveLength(bySource.flat().length)
  }
}

/** With their ends; what follows the last end is a line too, and torn. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** What a hand, or a bad disk, may do to them. */
export function damage(stand: Stand, what: Damage): void {
  if (!existsSync(stand.cursor) || !existsSync(stand.merged)) return
  if (what === 'merged') rmSync(stand.merged)
  else if (what === 'merged end') truncateSync(stand.merged, Math.floor(statSync(stand.merged).size / 2))
  else if (what === 'cursor') rmSync(stand.cursor)
  else truncateSync(stand.cursor, 20)
}
