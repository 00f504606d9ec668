// Whose directory is this? One that a node of a cluster works in says so: its shares belong to a crawl whose other parts are elsewhere.
//
//   DIR/state/cluster.json   {"format":1,"crawl":"museums","key":"…","node":"a"}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'
import { crawlBegun } from './layout.ts'

const FORMAT = 1

export interface NodeMark {
  readonly crawl: string
  /** Of the crawl's identity. */
  readonly key: string
  readonly node: string
}

/** Null where no node of a cluster has worked in it. */
export async function loadNodeMark(dir: string): Promise<NodeMark | null> {
  const path = pathIn(dir)
  try {
    const { format, crawl, key, node } = JSON.parse(await readFile(path, 'utf8')) as NodeMark & { format: number }
    if (format === FORMAT) return { crawl, key, node }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (!(cause instanceof SyntaxError)) throw diskFault(`reading ${path}`, cause)
  }
  throw new Fault(
    'LEDGER_CORRUPT',
    `${path} cannot be read; delete it if the directory is a node's, it is written anew`,
  )
}

/** Takes a directory for a node, and refuses one that is something else already. */
export async function markDirectory(dir: string, mark: NodeMark): Promise<void> {
  const found = await loadNodeMark(dir)
  if (found === null && (await crawlBegun(dir))) {
    throw new Fault(
      'CLUSTER_REFUSED',
      `${dir} holds a crawl of one machine; give the node a directory of its own (--dir)`,
    )
  }
  if (found !== null && (found.key !== mark.key || found.node !== mark.node)) {
    throw new Fault(
      'CLUSTER_REFUSED',
      `${dir} belongs to node ${found.node} of crawl ${found.crawl}; give this one a directory of its own (--dir)`,
    )
  }
  if (found === null) await writeAtomically(pathIn(dir), `${JSON.stringify({ format: FORMAT, ...mark })}\n`)
}

function pathIn(dir: string): string {
  return join(dir, 'state/cluster.json')
}
