import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Transport } from './client.ts'
import { socketTransport } from './socket-transport.ts'

/** The socket of the process that works in a directory, as that process noted it; null where it noted none. */
export async function controlSocketOf(dir: string, pid: number): Promise<Transport | null> {
  try {
    const note = JSON.parse(await readFile(join(dir, 'state/control.json'), 'utf8')) as {
      socket?: unknown
      pid?: unknown
    }
    // One that an earlier process left is nobody's.
    return typeof note.socket === 'string' && note.pid === pid ? socketTransport(note.socket) : null
  } catch {
    // Not there yet, or never: an older version.
    return null
  }
}
