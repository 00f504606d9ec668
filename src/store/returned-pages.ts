// Which pages were put back in line, found by URL: state/returns.jsonl (ReturnNote), with an index beside it.
//
//    returns.jsonl   {"url":…,"visit":1,…}⏎ {"url":…}⏎ …         grows, one line per page that is returned to
//    index           20 hex of the URL's hash, 9 places of base 36 for where the line stands, ⏎; sorted, 30 bytes each
//    in memory       the first key of every so many lines of the index: 65 536 at most
//
// Always true: find() gives the last note of a URL. The index can be made again from the notes alone, and is when it is not
// of their length; its lines are sorted by bytes, so the notes of one URL stand together, the last one last.
// It costs one read of some kilobytes to find that a URL was never returned to, and one more for its note. Reading waits
// for the disk: the files are in the system's cache while they are in use, and a crawl that never returns has none.

import { hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { AppendFile, sortLines } from '../disk/index.ts'
import { readPlacedLines } from './placed-lines.ts'
import type { PageRecord, ReturnNote } from './records.ts'

const KEY_LENGTH = 20
const PLACE_LENGTH = 9
const LINE_BYTES = KEY_LENGTH + PLACE_LENGTH + 1
/** Lines of the index that are read for one answer, at least. */
const STRETCH_LINES_MIN = 128
const FENCES_MAX = 65_536
const NOTE_BYTES = 4_096
const NEWLINE = 10

export class ReturnedPages {
  readonly #path: string
  readonly #notes: number
  readonly #index: number
  readonly #lines: number
  /** Lines of the index from one fence to the next. */
  readonly #stretch: number
  readonly #fences: string[] = []
  readonly #buffer: Buffer
  /** The last answer: a URL is asked about several times while it is visited. */
  #lastUrl = ''
  #lastNote: ReturnNote | null = null

  private constructor(path: string, notes: number, index: number) {
    this.#path = path
    this.#notes = notes
    this.#index = index
    this.#lines = Math.floor(fstatSync(index).size / LINE_BYTES)
    this.#stretch = Math.max(STRETCH_LINES_MIN, Math.ceil(this.#lines / FENCES_MAX))
    this.#buffer = Buffer.allocUnsafe(this.#stretch * LINE_BYTES)
    for (let line = 0; line < this.#lines; line += this.#stretch) {
      const read = readSync(index, this.#buffer, 0, KEY_LENGTH, line * LINE_BYTES)
      this.#fences.push(this.#buffer.toString('latin1', 0, read))
    }
  }

  /**
   * Null where no page was ever returned to. `folder` holds the index; it is made, and the index in it unless it is there.
   * Of the file its first `length` bytes count, or all.
   */
  static async open(path: string, folder: string, length?: number): Promise<ReturnedPages | null> {
    const found = length ?? (await stat(path).catch(() => null))?.size
    const size = found ?? 0
    if (size === 0) return null
    let notes = -1
    try {
      const index = await makeIndex(path, folder, size)
      notes = openSync(path, 'r')
      return new ReturnedPages(path, notes, openSync(index, 'r'))
    } catch (cause) {
      if (notes !== -1) closeSync(notes)
      throw diskFault(`opening ${path}`, cause)
    }
  }

  /** The last note of a URL. */
  find(url: string): ReturnNote | null {
    if (url === this.#lastUrl) return this.#lastNote
    const note = this.#search(url)
    this.#lastUrl = url
    this.#lastNote = note
    return note
  }

  /** Whether a line of pages.jsonl counts no more: its page waits again, or has another line, or a failure. */
  isTakenBack({ url, visit = 1 }: Pick<PageRecord, 'url' | 'visit'>): boolean {
    const note = this.find(url)
    return note !== null && visit <= note.visit
  }

  close(): void {
    closeSync(this.#notes)
    closeSync(this.#index)
  }

  #search(url: string): ReturnNote | null {
    const key = keyOf(url)
    // The last stretch that begins at or before the key: the last line of the key is in it, if there is any.
    let low = 0
    let high = this.#fences.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#fences[middle] as string) <= key) low = middle + 1
      else high = middle
    }
    if (low === 0) return null
    const text = this.#stretchAt((low - 1) * this.#stretch)
    let first = 0
    let end = text.length / LINE_BYTES
    while (first < end) {
      const middle = (first + end) >>> 1
      if (text.slice(middle * LINE_BYTES, middle * LINE_BYTES + KEY_LENGTH) <= key) first = middle + 1
      else end = middle
    }
    // Of different URLs with one key, which nobody will ever see, all are looked at.
    for (let line = first - 1; line >= 0 && text.startsWith(key, line * LINE_BYTES); line--) {
      const at = line * LINE_BYTES + KEY_LENGTH
      const note = this.#noteAt(Number.parseInt(text.slice(at, at + PLACE_LENGTH), 36))
      if (note.url === url) return note
    }
    return null
  }

  #stretchAt(line: number): string {
    const wanted = Math.min(this.#stretch, this.#lines - line) * LINE_BYTES
    let filled = 0
    while (filled < wanted) {
      const read = readSync(this.#index, this.#buffer, filled, wanted - filled, line * LINE_BYTES + filled)
      if (read === 0) throw this.#damaged('the index ends too soon')
      filled += read
    }
    return this.#buffer.toString('latin1', 0, wanted)
  }

  #noteAt(position: number): ReturnNote {
    for (let bytes = NOTE_BYTES; ; bytes *= 8) {
      const buffer = Buffer.allocUnsafe(bytes)
      const read = readSync(this.#notes, buffer, 0, bytes, position)
      const end = buffer.subarray(0, read).indexOf(NEWLINE)
      if (end !== -1) return JSON.parse(buffer.toString('utf8', 0, end)) as ReturnNote
      if (read < bytes) throw this.#damaged(`no line ends behind byte ${position}`)
    }
  }

  #damaged(what: string): Fault {
    return new Fault('LEDGER_CORRUPT', `${this.#path}: ${what}; restore it from a copy`)
  }
}

/** Says where it is. One of another length is of earlier notes, and removed. */
async function makeIndex(path: string, folder: string, size: number): Promise<string> {
  await mkdir(folder, { recursive: true })
  const name = `${size}.index`
  const index = join(folder, name)
  const there = await readdir(folder)
  for (const other of there) if (other !== name) await rm(join(folder, other), { force: true })
  if (there.includes(name)) return index
  const unsorted = join(folder, 'unsorted')
  const file = await AppendFile.open(unsorted, { committedLength: 0 })
  try {
    for await (const { position, end, record } of readPlacedLines<ReturnNote>(path)) {
      if (end > size) break
      file.append(`${keyOf(record.url)}${position.toString(36).padStart(PLACE_LENGTH, '0')}\n`, 'latin1')
      if (file.needsDrain) await file.drained()
    }
  } finally {
    await file.close()
  }
  await sortLines([unsorted], index)
  await rm(unsorted)
  return index
}

function keyOf(url: string): string {
  return hash('sha1', url, 'hex').slice(0, KEY_LENGTH)
}
