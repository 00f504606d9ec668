// What the lenses share: where they read and write, and how they read a file.

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { Fault } from '../base/index.ts'
import { quote, unreadable } from './config-flags.ts'

/** Where a lens reads and writes; the process itself outside tests. */
export interface LensStreams {
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** The bytes of a file, or of standard input for `-`. */
export async function readInput(path: string, streams: LensStreams): Promise<Uint8Array> {
  if (path === '-') return buffer(streams.stdin)
  try {
    return await readFile(path)
  } catch (cause) {
    throw new Fault('CONFIG_INVALID', `${quote(path)} ${unreadable(cause)}`, cause)
  }
}
