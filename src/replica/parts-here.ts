// What parts on disk this node has of a share whose last batches were written on another: they name runs and archives that are
// there, not here. Until a batch is written here, this file says what is.
//
//   state/parts.json   { upTo: 57, states: { seen, contents, archive } }    holds for batches up to 57

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'
import type { States } from './file-tails.ts'

const PATH = 'state/parts.json'

export interface PartsHere {
  /** Batches up to this one may have been written elsewhere. */
  readonly upTo: number
  readonly states: States
}

/** What the parts on disk are by name, in the words of a batch. */
export const PART_NAMES = ['seen', 'contents', 'archive'] as const

export async function loadPartsHere(dir: string): Promise<PartsHere | null> {
  const path = join(dir, PATH)
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  })
  if (text === null) return null
  try {
    return JSON.parse(text) as PartsHere
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `${path} cannot be read`, cause)
  }
}

export async function savePartsHere(dir: string, parts: PartsHere): Promise<void> {
  await writeAtomically(join(dir, PATH), JSON.stringify(parts))
}

/** What a batch says, with what is true here. */
export function statesHere(parts: PartsHere | null, number: number, said: States): States {
  if (parts === null || number > parts.upTo) return said
  const states: Record<string, unknown> = { ...said }
  for (const name of PART_NAMES) states[name] = parts.states[name] ?? null
  return states
}
