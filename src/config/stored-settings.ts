// A crawl remembers how it was meant: what was said when it was begun holds when it goes on, unless
// something else is said then. Limits are left out, because they belong to a run (raising one is how
// a crawl is continued), and so are secrets, because the directory is meant to be passed on.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { SECTIONS } from '../agent/options.ts'
import { writeAtomically } from '../disk/index.ts'
import { printable } from '../report/index.ts'
import type { Problem } from './problem.ts'
import { readConfig } from './read-config.ts'

export type Said = Readonly<Record<string, Readonly<Record<string, unknown>>>>

const OF_A_RUN: ReadonlySet<string> = new Set(['agent.maxPages', 'agent.maxTime', 'agent.maxWait'])
const SECRET: ReadonlySet<string> = new Set(['fetch.headers'])

/** Whether it belongs to one run. */
export function isRunLimit(section: string, key: string): boolean {
  return OF_A_RUN.has(`${section}.${key}`)
}

/** Whether a later run is meant as one that was told this; what is not kept belongs to one run, or is secret. */
export function isKeptSetting(section: string, key: string): boolean {
  return !isRunLimit(section, key) && !SECRET.has(`${section}.${key}`)
}

function pathIn(dir: string): string {
  return join(dir, 'state/settings.json')
}

/** What an earlier run was told; null where nothing is kept. What comes back is valid for the options as they are now. */
export async function loadSettings(dir: string): Promise<Said | null> {
  const path = pathIn(dir)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw diskFault(`reading ${printable(path)}`, cause)
  }
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw damaged(path, 'it is not JSON', cause)
  }
  const checked = readConfig(SECTIONS, { flags: new Map(), environment: {}, file: { name: 'it', content } })
  if (checked.kind === 'config') return content as Said
  throw damaged(path, checked.problems.map(({ where, what }) => `${where}: ${what}`).join('; '))
}

function damaged(path: string, what: string, cause?: unknown): Fault {
  return new Fault(
    'LEDGER_CORRUPT',
    `${printable(path)} is damaged (${printable(what)}); delete it and give the crawl's options again`,
    cause,
  )
}

/** A crawl without its settings would go on with the defaults, and skip what waits outside of them. */
export function missingSettings(dir: string): Problem {
  return {
    where: printable(pathIn(dir)),
    what: 'is missing, so how the crawl was meant is not known; give its options again, or its seeds alone where it had none',
  }
}

/** Keeps what was said for the runs to come. */
export async function storeSettings(dir: string, said: Said): Promise<void> {
  const kept = picked(withoutSecrets(said), isKeptSetting)
  await writeAtomically(pathIn(dir), `${JSON.stringify(kept, null, 2)}\n`)
}

/** Those for which it is true, by section and key. */
export function picked(said: Said, isMeant: (section: string, key: string) => boolean): Said {
  const sections = Object.entries(said).map(
    ([section, options]) =>
      [section, Object.fromEntries(Object.entries(options).filter(([key]) => isMeant(section, key)))] as const,
  )
  return Object.fromEntries(sections.filter(([, options]) => Object.keys(options).length > 0))
}

/** What may stand in a file of the crawl's directory. That an option is to be as usual again is no secret. */
export function withoutSecrets(said: Said): Said {
  const told = picked(said, (section, key) => !SECRET.has(`${section}.${key}`) || said[section]?.[key] === null)
  const sections = Object.entries(told).map(
    ([section, options]) =>
      [
        section,
        Object.fromEntries(
          Object.entries(options).map(([key, value]) => [key, withoutSecret(`${section}.${key}`, value)]),
        ),
      ] as const,
  )
  return Object.fromEntries(sections)
}

function withoutSecret(option: string, value: unknown): unknown {
  if (option === 'fetch.proxy') return withoutLogin(value)
  // A password that is named by a variable is in no file, and its login goes on; if the variable is gone, that is told.
  if (option === 'fetch.logins' && Array.isArray(value)) {
    return value.filter((login: { readonly password?: string }) => login.password === undefined)
  }
  return value
}

/**
 * Whoever crawls through a proxy must not go on without it unasked: it is kept, and only its user name and password
 * have to be said again. Until they are, the proxy refuses us.
 */
function withoutLogin(proxy: unknown): unknown {
  if (typeof proxy !== 'string' || !URL.canParse(proxy)) return proxy
  const url = new URL(proxy)
  if (url.username === '' && url.password === '') return proxy
  url.username = ''
  url.password = ''
  return url.href
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
    .map(([key, value]) => `${key} ${describeValue(value)}`)
    .join(', ')
}

function describeValue(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
