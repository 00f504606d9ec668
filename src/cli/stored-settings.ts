// A crawl remembers how it was meant: what was said when it was begun holds when it goes on, unless
// something else is said then. Limits are left out, because they belong to a run (raising one is how
// a crawl is continued), and so are secrets, because the directory is meant to be passed on.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { writeAtomically } from '../disk/index.ts'

export type Said = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const NOT_KEPT: ReadonlySet<string> = new Set([
  'agent.maxPages',
  'agent.maxTime',
  'agent.maxWait',
  'fetch.logins',
  'fetch.headers',
  'fetch.proxy',
])

function pathIn(dir: string): string {
  return join(dir, 'state/settings.json')
}

/** What an earlier run was told; empty for a directory without a crawl. */
export async function loadSettings(dir: string): Promise<Said> {
  let text: string
  try {
    text = await readFile(pathIn(dir), 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    throw cause
  }
  try {
    return JSON.parse(text) as Said
  } catch (cause) {
    throw new Fault('LEDGER_CORRUPT', `${pathIn(dir)} is damaged; delete it and give the crawl's options again`, cause)
  }
}

/** Keeps what was said for the runs to come. */
export async function storeSettings(dir: string, said: Said): Promise<void> {
  const kept = Object.entries(said).flatMap(([section, options]) => {
    const own = Object.entries(options).filter(([key]) => !NOT_KEPT.has(`${section}.${key}`))
    return own.length === 0 ? [] : [[section, Object.fromEntries(own)] as const]
  })
  await writeAtomically(pathIn(dir), `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

/** `over` wins, option by option. */
export function mergeSaid(under: Said, over: Said): Said {
  const merged: Record<string, Record<string, unknown>> = {}
  for (const [section, options] of [...Object.entries(under), ...Object.entries(over)]) {
    merged[section] = { ...merged[section], ...options }
  }
  return merged
}

/** `scope prefix, exclude /private/`: what is remembered, in a line. */
export function describeSaid(said: Said): string {
  return Object.values(said)
    .flatMap((options) => Object.entries(options))
    .map(([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
