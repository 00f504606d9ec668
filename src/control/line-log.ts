// A file of numbered lines of JSON that grows at its end and is bounded: two files, of which the older goes when the younger is full.
//
//   events.jsonl           the younger, appended to
//   events-before.jsonl    full; thrown away when events.jsonl is full too, and takes its place
//
// So the last half of `linesMax` are always there, and never more than all of it. One writer; anybody may read meanwhile: a line that was
// torn by a crash is dropped by whoever reads it.

import { type FileHandle, open, readFile, rename } from 'node:fs/promises'
import { diskFault } from '../base/index.ts'

export interface LogPage<T> {
  /** The newest first. */
  readonly items: T[]
  /** What `after` takes to go on; null at the end. */
  readonly next: string | null
  readonly total: number
}

export interface Numbered {
  readonly number: number
}

export class LineLog<T extends Numbered> {
  readonly #path: string
  readonly #linesPerFile: number
  #handle: FileHandle
  #lines: number
  #last: number
  /** A line was begun and not ended: the disk was full. */
  #isTorn = false
  /** Writes in the order they were asked for; never rejects. */
  #writes: Promise<unknown> = Promise.resolve()

  private constructor(path: string, linesMax: number, handle: FileHandle, lines: number, last: number) {
    this.#path = path
    this.#linesPerFile = Math.max(1, Math.floor(linesMax / 2))
    this.#handle = handle
    this.#lines = lines
    this.#last = last
  }

  /** Goes on in the file when there is one. */
  static async open<T extends Numbered>(path: string, linesMax: number): Promise<LineLog<T>> {
    const { text, records } = await load(path)
    const last = records.at(-1) ?? (await load(olderOf(path))).records.at(-1)
    try {
      const handle = await open(path, 'a')
      // A torn last line must not be glued to the next one.
      if (text !== '' && !text.endsWith('\n')) await handle.write('\n')
      return new LineLog(path, linesMax, handle, records.length, last?.number ?? 0)
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
  }

  /** Written when it resolves, and durable where that is asked for. The number is given at once. */
  append(make: (number: number) => T, isDurable: boolean): { readonly record: T; readonly written: Promise<void> } {
    const record = make(++this.#last)
    const line = `${JSON.stringify(record)}\n`
    const written = this.#writes.then(() => this.#write(line, isDurable))
    this.#writes = written.catch(() => {})
    return { record, written }
  }

  async close(): Promise<void> {
    await this.#writes
    await this.#handle.close()
  }

  async #write(line: string, isDurable: boolean): Promise<void> {
    try {
      if (this.#lines >= this.#linesPerFile) {
        await rename(this.#path, olderOf(this.#path)).catch((cause: NodeJS.ErrnoException) => {
          // Renamed by a try that came no further.
          if (cause.code !== 'ENOENT') throw cause
        })
        const next = await open(this.#path, 'a')
        await this.#handle.close().catch(() => {})
        this.#handle = next
        this.#lines = 0
        this.#isTorn = false
      }
      const isAfterTorn = this.#isTorn
      this.#isTorn = true
      // Not `write`, which on a disk that is nearly full writes a part and calls it done.
      await this.#handle.appendFile(isAfterTorn ? `\n${line}` : line)
      this.#isTorn = false
      this.#lines++
      if (isDurable) await this.#handle.datasync()
    } catch (cause) {
      throw diskFault(`writing ${this.#path}`, cause)
    }
  }
}

/** Part of a log, the newest first. `after`: the `next` of the part before. */
export async function readLog<T extends Numbered>(
  path: string,
  after: string | undefined,
  limit: number,
): Promise<LogPage<T>> {
  const younger = (await load(path)).records as T[]
  const older = (await load(olderOf(path))).records as T[]
  // Where both were read around a rotation a line may be in both.
  const first = younger[0]?.number ?? Infinity
  const all = [...older.filter(({ number }) => number < first), ...younger]
  const before = after === undefined ? Infinity : Number(after)
  const asked = all.filter(({ number }) => number < before)
  const items = asked.slice(-limit).toReversed()
  const isMore = asked.length > items.length
  return { items, next: isMore ? String(items.at(-1)?.number ?? '') : null, total: all.length }
}

function olderOf(path: string): string {
  return path.replace(/\.jsonl$/, '-before.jsonl')
}

async function load(path: string): Promise<{ readonly text: string; readonly records: Numbered[] }> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: '', records: [] }
    throw diskFault(`reading ${path}`, cause)
  }
  const records = text.split('\n').flatMap((line) => {
    const record = parse(line)
    return record === null ? [] : [record]
  })
  return { text, records }
}

function parse(line: string): Numbered | null {
  try {
    const value = JSON.parse(line) as Partial<Numbered> | null
    return Number.isSafeInteger(value?.number) ? (value as Numbered) : null
  } catch {
    return null
  }
}
