// What a change of the number of agents is about to do, so that whatever ends it, the next start can tell what is left over.
//
//   state/resharing.json   {"format":1,"from":["state/agents/0","state/agents/1"],"to":["state/agents/2-0"]}
//
//   the layout names `to`     the new shares count: what is left of the old ones is removed
//   it does not               the old ones count as they were: what there is of the new ones is removed
//
// Nothing is ever removed that this record does not name, nor anything that the layout does.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeOnlyShare, removeShare } from '../agent/index.ts'
import { assert, diskFault, Fault } from '../base/index.ts'
import { syncDirectory, writeAtomically } from '../disk/index.ts'

export interface Resharing {
  /** Null where one agent had all of the crawl's directory. */
  readonly from: readonly string[] | null
  readonly to: readonly string[]
}

const FORMAT = 1
const SHARE = /^state\/agents\/[\w-]+$/

export async function beginResharing(dir: string, { from, to }: Resharing): Promise<void> {
  await writeAtomically(pathIn(dir), `${JSON.stringify({ format: FORMAT, from, to })}\n`)
}

/** Removes what was not meant to stay, by what the layout says now. Nothing to do where nothing was begun. */
export async function endResharing(dir: string, layout: readonly string[] | null): Promise<void> {
  const record = await load(dir)
  if (record === null) return
  const { from, to } = record
  const isFlipped = layout !== null && String(layout) === String(to)
  const leftovers = isFlipped ? from : to
  if (leftovers === null) await removeOnlyShare(dir)
  else {
    for (const name of leftovers) {
      assert(layout?.includes(name) !== true, `${name} is a share of the crawl, and was to be removed`)
      await removeShare(dir, name)
    }
  }
  try {
    await rm(pathIn(dir), { force: true })
    await syncDirectory(join(dir, 'state'))
  } catch (cause) {
    throw diskFault(`removing ${pathIn(dir)}`, cause)
  }
}

async function load(dir: string): Promise<Resharing | null> {
  const path = pathIn(dir)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
  try {
    const { format, from, to } = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (format === FORMAT && (from === null || isNames(from)) && isNames(to)) return { from, to }
  } catch {
    // Said below.
  }
  throw new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged. It says which directories of state/agents/ are left over from a change of --agents; remove it, and those that state/layout.json does not name`,
  )
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && SHARE.test(name))
}

function pathIn(dir: string): string {
  return join(dir, 'state/resharing.json')
}
