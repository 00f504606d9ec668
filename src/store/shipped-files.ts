// What of the archive is kept elsewhere too: state/shipped.jsonl, a line for each file that was put on the shelf and checked
// there. Whoever misses a file of the archive asks here before calling it lost.
//
//    {"file":"archive/portolan-….warc.gz","bytes":1073912345,"sha256":"…","to":"s3://bucket/prefix/crawl/","at":"…"}⏎
//    {"file":"archive/portolan-….warc.gz","takenBack":"…"}⏎                the line above counts no more: the file is written again
//    {"file":"archive/portolan-….warc.gz","lost":"…"}⏎                     it is nowhere, and its pages were put back in line
//
// Always true: a line stands only after the copy was checked, and is synced before anything is done because of it. The last
// line of a file counts. A last line that a crash has torn is cut off; its file is put there again.

import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { AppendFile } from '../disk/index.ts'
import { readPlacedLines } from './placed-lines.ts'

export const SHIPPED_FILE = 'state/shipped.jsonl'

export interface ShippedFile {
  /** Relative to the crawl's directory, as pages name it. */
  readonly file: string
  readonly bytes: number
  /** Of all its bytes: 64 hexadecimal digits. */
  readonly sha256: string
  /** The folder it stands in, by the same relative name. */
  readonly to: string
  /** ISO 8601, UTC. */
  readonly at: string
}

type Line =
  | ShippedFile
  | { readonly file: string; readonly takenBack: string }
  | { readonly file: string; readonly lost: string }

export class ShippedFiles {
  readonly #lines: AppendFile
  readonly #known: Map<string, ShippedFile>

  private constructor(lines: AppendFile, known: Map<string, ShippedFile>) {
    this.#lines = lines
    this.#known = known
  }

  /** `dir` is the crawl's; it is for whoever holds it. */
  static async open(dir: string): Promise<ShippedFiles> {
    const path = join(dir, SHIPPED_FILE)
    const { known, length } = await read(path)
    return new ShippedFiles(await AppendFile.open(path, { committedLength: length }), known)
  }

  get files(): ReadonlyMap<string, ShippedFile> {
    return this.#known
  }

  /** Durable when it resolves. */
  async add(file: ShippedFile): Promise<void> {
    await this.#write(file)
    this.#known.set(file.file, file)
  }

  /** The file is written again: what is elsewhere is not it any more. */
  async takeBack(file: string, at: string): Promise<void> {
    if (!this.#known.has(file)) return
    await this.#write({ file, takenBack: at })
    this.#known.delete(file)
  }

  /** It is nowhere any more, and nobody waits for it: the index leaves its records out. */
  async giveUp(file: string, at: string): Promise<void> {
    await this.#write({ file, lost: at })
    this.#known.delete(file)
  }

  close(): Promise<void> {
    return this.#lines.close()
  }

  async #write(line: Line): Promise<void> {
    this.#lines.append(`${JSON.stringify(line)}\n`)
    await this.#lines.sync()
  }
}

/** By name; empty where nothing was ever shipped. Takes no lock. */
export async function loadShipped(dir: string): Promise<ReadonlyMap<string, ShippedFile>> {
  return (await read(join(dir, SHIPPED_FILE))).known
}

/** Files that were given up as lost. */
export async function loadLostFiles(dir: string): Promise<ReadonlySet<string>> {
  return (await read(join(dir, SHIPPED_FILE))).lost
}

async function read(path: string): Promise<{ known: Map<string, ShippedFile>; lost: Set<string>; length: number }> {
  const known = new Map<string, ShippedFile>()
  const lost = new Set<string>()
  let length = 0
  try {
    for await (const { record, end } of readPlacedLines<Line>(path)) {
      if ('lost' in record) lost.add(record.file)
      else lost.delete(record.file)
      if ('sha256' in record) known.set(record.file, record)
      else known.delete(record.file)
      length = end
    }
  } catch (fault) {
    if (!isMissing(fault)) throw fault
  }
  return { known, lost, length }
}

function isMissing(fault: unknown): boolean {
  return fault instanceof Fault && (fault.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
}
