// Lines of JSON with the place of each: for whoever remembers where a record stands instead of the record.

import { open } from 'node:fs/promises'
import { diskFault, Fault } from '../base/index.ts'

const WINDOW_BYTES = 256 * 2 ** 10
const NEWLINE = 10

export interface PlacedLine<T> {
  /** The byte at which the line begins, */
  readonly position: number
  /** and at which the next one does. */
  readonly end: number
  readonly record: T
}

/**
 * The records from a position on, which must be the beginning of a line, or with `isMidway` from the first line that begins
 * at or after it. In bounded memory; a last line without its newline is left out.
 */
export async function* readPlacedLines<T>(path: string, from = 0, isMidway = false): AsyncGenerator<PlacedLine<T>> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw diskFault(`reading ${path}`, cause)
  })
  try {
    let held = Buffer.alloc(0)
    // One byte early: the newline before a line tells that it begins there.
    let position = isMidway && from > 0 ? from - 1 : from
    let skips = isMidway && from > 0
    for (;;) {
      const window = Buffer.allocUnsafe(WINDOW_BYTES)
      const { bytesRead } = await handle.read(window, 0, WINDOW_BYTES, position + held.length)
      if (bytesRead === 0) return
      const bytes = Buffer.concat([held, window.subarray(0, bytesRead)])
      let start = 0
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        const next = position + end + 1
        if (!skips) {
          yield {
            position: position + start,
            end: next,
            record: parse(path, position + start, bytes.subarray(start, end)) as T,
          }
        }
        skips = false
        start = end + 1
      }
      held = bytes.subarray(start)
      position += start
    }
  } catch (cause) {
    throw diskFault(`reading ${path}`, cause)
  } finally {
    await handle.close()
  }
}

function parse(path: string, position: number, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString()) as unknown
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `${path} has no JSON at byte ${position}; restore the file from a copy`, cause)
  }
}
