// One JSON object per line: pages.jsonl, failures.jsonl.
//
// JSON.stringify is the serialiser: a page's line takes it 2 µs, and one written by hand for PageRecord
// won less than one (bench/store.ts).

import { diskFault, Fault } from '../base/index.ts'
import { AppendFile, type AppendFileOptions, readPieces } from '../disk/index.ts'

export class JsonLines<T> {
  readonly #file: AppendFile

  private constructor(file: AppendFile) {
    this.#file = file
  }

  static async open<T>(path: string, options: Pick<AppendFileOptions, 'committedLength'> = {}): Promise<JsonLines<T>> {
    return new JsonLines<T>(await AppendFile.open(path, options))
  }

  /** To be committed once sync() has resolved. */
  get length(): number {
    return this.#file.length
  }

  get needsDrain(): boolean {
    return this.#file.needsDrain
  }

  get path(): string {
    return this.#file.path
  }

  /** Returns where the line stands. */
  append(record: T): number {
    return this.#file.appendLine(JSON.stringify(record))
  }

  drained(): Promise<void> {
    return this.#file.drained()
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/**
 * The records of a file, in bounded memory. A last line without its newline was torn by a crash and is
 * left out; a line before it that is not JSON is a fault.
 */
export async function* readJsonLines<T>(path: string): AsyncGenerator<T> {
  for await (const records of readJsonBlocks<T>(path)) yield* records
}

/** The same, some hundred records at a time: to be given them one by one takes as long again as to parse them. */
export async function* readJsonBlocks<T>(path: string): AsyncGenerator<readonly T[]> {
  let number = 0
  for await (const lines of readWholeLines(path)) {
    const records: T[] = []
    for (const line of lines) {
      number++
      try {
        records.push(JSON.parse(line) as T)
      } catch (cause) {
        // Those before it are whole.
        yield records
        throw new Fault('LEDGER_CORRUPT', `${path}, line ${number} is not JSON; restore the file from a copy`, cause)
      }
    }
    yield records
  }
}

async function* readWholeLines(path: string): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const piece of readPieces(path)) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield lines
    }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  }
}
