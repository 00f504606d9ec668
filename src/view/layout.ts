// Where the agents of a crawl keep what they write.
//
//   one agent     DIR is its own share: DIR/pages.jsonl, DIR/state/journal/, …
//   several       DIR/state/layout.json names a share each, and every share looks like the directory of a crawl:
//
//       {"format":1,"agents":2,"shares":["state/agents/0","state/agents/1"]}
//
// How many there are is stored, not counted: a directory that is missing is a loss, not one agent less.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, diskFault, Fault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'
import { journalBegun } from '../ledger/index.ts'

const FORMAT = 1
/** Inside state/, without a way out of it. */
const SHARE = /^state(?:\/(?!\.)[\w.-]+)+$/
const EXAMPLE = '{"format":1,"agents":2,"shares":["state/agents/0","state/agents/1"]}'

/** The shares of a crawl by their names inside DIR, the first agent's first; null where one agent has all of DIR. */
export async function loadLayout(dir: string): Promise<readonly string[] | null> {
  const path = pathIn(dir)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw diskFault(`reading ${path}`, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw damaged(path, 'it is not JSON', cause)
  }
  if (typeof value !== 'object' || value === null) throw damaged(path, 'it is not an object')
  const { format, agents, shares } = value as Readonly<Record<string, unknown>>
  if (typeof format === 'number' && format !== FORMAT) {
    throw new Fault(
      'LEDGER_VERSION',
      `${path} is of format ${format}, this version reads ${FORMAT}; use the version of Portolan that wrote it`,
    )
  }
  if (format !== FORMAT || !Array.isArray(shares)) throw damaged(path, 'it names no shares')
  const complaint = complaintOf(shares)
  if (complaint !== null) throw damaged(path, complaint)
  if (agents !== shares.length)
    throw damaged(path, `it says ${JSON.stringify(agents)} agents and names ${shares.length}`)
  return shares as string[]
}

/** Whether a crawl was begun in this directory, by one agent or by several. */
export async function crawlBegun(dir: string): Promise<boolean> {
  return (await loadLayout(dir)) !== null || (await journalBegun(join(dir, 'state/journal')))
}

/** The directories of the shares of a crawl; the crawl's own where one agent has all of it. */
export async function sharesOf(dir: string): Promise<readonly string[]> {
  const layout = await loadLayout(dir)
  return layout === null ? [dir] : layout.map((share) => join(dir, share))
}

/** Says which shares there are, by their names inside DIR, from now on and whatever happens. */
export async function writeLayout(dir: string, shares: readonly string[]): Promise<void> {
  const complaint = complaintOf(shares)
  assert(complaint === null, `layout of ${dir}: ${complaint}`)
  await writeAtomically(pathIn(dir), `${JSON.stringify({ format: FORMAT, agents: shares.length, shares })}\n`)
}

function pathIn(dir: string): string {
  return join(dir, 'state/layout.json')
}

function complaintOf(shares: readonly unknown[]): string | null {
  if (shares.length === 0) return 'it names no shares'
  const strange = shares.find((share) => typeof share !== 'string' || !SHARE.test(share))
  if (strange !== undefined) return `${JSON.stringify(strange)} is no directory below state/`
  if (new Set(shares).size < shares.length) return 'it names a share twice'
  const names = shares as readonly string[]
  const inner = names.find((name) => names.some((other) => name.startsWith(`${other}/`)))
  return inner === undefined ? null : `${inner} lies inside of another share`
}

function damaged(path: string, what: string, cause?: unknown): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${path} is damaged: ${what}. Restore it from a copy, or write it anew with every directory of state/agents/, as in ${EXAMPLE}`,
    cause,
  )
}
