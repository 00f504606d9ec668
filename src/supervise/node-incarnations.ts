// The lives that a node of a cluster has had in this directory. Whoever holds the directory's lock knows that all earlier ones are over,
// and need not wait for them.

import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault } from '../base/index.ts'

const FILE = 'state/incarnations'
/** Older ones are in no view any more. */
const KNOWN_MAX = 100

/** Of earlier processes, and of this one so far. Only with the lock of the directory. */
export async function formerIncarnations(dir: string): Promise<readonly string[]> {
  try {
    const text = await readFile(join(dir, FILE), 'utf8')
    return text.split('\n').slice(0, -1).slice(-KNOWN_MAX)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw diskFault(`reading ${join(dir, FILE)}`, cause)
  }
}

/** A name that no life ever had, written down before it is used. */
export function newIncarnation(dir: string): string {
  const name = randomBytes(6).toString('hex')
  try {
    appendFileSync(join(dir, FILE), `${name}\n`, { flush: true })
  } catch (cause) {
    throw diskFault(`writing ${join(dir, FILE)}`, cause)
  }
  return name
}
