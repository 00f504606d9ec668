// Keeps the house in order: rooms import only what stands before them, through the door; no import
// cycles, types included; no drawers called `util`; time, chance, environment and console only where they belong.
//
//   node tools/tidy.ts      prints what is wrong and exits 1

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOMS } from '../src/rooms.ts'

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Complaint {
  readonly path: string
  readonly line: number
  readonly what: string
}

const FORBIDDEN_NAMES = /(^|\/)(utils?|helpers?|common|misc|shared)(\.ts$|\/)/
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|fuzz|conformance|config))?\.tsx?$/

/** Calls that bring the outside in, and the only places in src that may use them. */
const OUTSIDE: readonly { pattern: RegExp; name: string; allowed: RegExp }[] = [
  { pattern: /\bDate\.now\(/, name: 'Date.now', allowed: /^src\/(base\/clock|cli\/|config\/)/ },
  { pattern: /\bperformance\.now\(/, name: 'performance.now', allowed: /^src\/(base\/clock|cli\/)/ },
  { pattern: /\bMath\.random\(/, name: 'Math.random', allowed: /^src\/base\/random/ },
  { pattern: /\bprocess\.env\b/, name: 'process.env', allowed: /^src\/(config|cli)\// },
  { pattern: /\bconsole\./, name: 'console', allowed: /^src\/cli\// },
]

/** Where zod may be, and what uses it: threads are given settings that were checked, and need not load what checks. */
const SCHEMA_FILE = /\/(?:options|[a-z-]+-schema)\.ts$/
const READS_CONFIGURATION = /^src\/(?:config|control|cli|report)\//
const VALUE_IMPORT = /(?:^|\n)(?:import|export) \{([^}]*)\} from '([^']+)'/g

/** What the dashboard may load of the crawler: data and plain functions. Everything else it knows by its types only. */
const SEEN_BY_BROWSERS = new Set([
  'src/base/units.ts',
  'src/base/vocabulary.ts',
  'src/control/client.ts',
  'src/control/paths.ts',
  'src/report/printable.ts',
])

const IMPORT = /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*?(?:\n[^'"\n;]*?)*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)/g

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

function isTest(path: string): boolean {
  return /\.(test|fuzz|conformance)\.ts$/.test(path)
}

function importsOf(file: SourceFile): { target: string; line: number }[] {
  const found: { target: string; line: number }[] = []
  for (const match of file.text.matchAll(IMPORT)) {
    const specifier = match[1] ?? match[2] ?? ''
    if (!specifier.startsWith('.')) continue
    const target = relative('/', resolve('/', dirname(file.path), specifier))
    found.push({ target, line: lineOf(file.text, match.index + match[0].indexOf(specifier)) })
  }
  return found
}

/** Imports of our own files that are more than types. */
function valueImportsOf(file: SourceFile): { target: string; line: number }[] {
  const found: { target: string; line: number }[] = []
  for (const match of file.text.matchAll(VALUE_IMPORT)) {
    const [, names = '', target = ''] = match
    const isValue = names.split(',').some((name) => name.trim() !== '' && !name.trim().startsWith('type '))
    if (isValue && target.startsWith('.'))
      found.push({
        target: relative('/', resolve('/', dirname(file.path), target)),
        line: lineOf(file.text, match.index + 1),
      })
  }
  return found
}

/** Imports of schemas that are more than types. */
function schemaImportsOf(file: SourceFile): { target: string; line: number }[] {
  const found: { target: string; line: number }[] = []
  for (const match of file.text.matchAll(VALUE_IMPORT)) {
    const [, names = '', target = ''] = match
    if (target !== 'zod' && !SCHEMA_FILE.test(target)) continue
    const isValue = names.split(',').some((name) => name.trim() !== '' && !name.trim().startsWith('type '))
    if (isValue) found.push({ target, line: lineOf(file.text, match.index + 1) })
  }
  return found
}

function roomOf(path: string): string | null {
  const match = /^src\/([^/]+)\//.exec(path)
  return match?.[1] ?? null
}

export function tidy(files: readonly SourceFile[]): Complaint[] {
  const complaints: Complaint[] = []
  const order = new Map<string, number>(ROOMS.map((room, index) => [room, index]))
  const graph = new Map<string, string[]>()

  for (const file of files) {
    const complain = (line: number, what: string): void => void complaints.push({ path: file.path, line, what })
    if (FORBIDDEN_NAMES.test(file.path)) complain(1, 'a drawer, not a room: name the thing it holds')
    const name = file.path.slice(file.path.lastIndexOf('/') + 1)
    if (!KEBAB_CASE.test(name)) complain(1, 'file names are kebab-case')

    const room = roomOf(file.path)
    const imports = importsOf(file)
    graph.set(
      file.path,
      imports.map((one) => one.target),
    )
    if (file.path.startsWith('dashboard/')) {
      for (const { target, line } of valueImportsOf(file)) {
        if (target.startsWith('src/') && !SEEN_BY_BROWSERS.has(target))
          complain(line, `${target} is not for browsers: import its types`)
      }
    }
    if (room === null) continue
    const own = order.get(room)
    if (own === undefined) {
      complain(1, `room '${room}' is not in src/rooms.ts`)
      continue
    }
    for (const { target, line } of imports) {
      const targetRoom = roomOf(target)
      if (targetRoom === null) {
        const isCommandOfTestweb = room === 'cli' && target.startsWith('testweb/')
        if (!isTest(file.path) && !isCommandOfTestweb) complain(line, `src may not import ${target}`)
        continue
      }
      if (targetRoom === room) continue
      const theirs = order.get(targetRoom)
      if (theirs === undefined) continue
      if (theirs > own && !isTest(file.path))
        complain(line, `'${room}' stands before '${targetRoom}' and may not import it`)
      // The laws of an interface are run on all that keep them, wherever they live.
      const isLaw = isTest(file.path) && target.endsWith('.conformance.ts')
      if (!isLaw && !/\/(?:index|options)\.ts$/.test(target))
        complain(line, `go through a door: import src/${targetRoom}/index.ts or options.ts`)
    }
    if (isTest(file.path)) continue
    if (!SCHEMA_FILE.test(file.path) && !READS_CONFIGURATION.test(file.path)) {
      for (const { target, line } of schemaImportsOf(file)) {
        complain(line, `${target} checks settings: only options.ts and *-schema.ts load it, others import its types`)
      }
    }
    for (const { pattern, name: call, allowed } of OUTSIDE) {
      if (allowed.test(file.path)) continue
      for (const [index, text] of file.text.split('\n').entries()) {
        if (pattern.test(text) && !/^\s*(\/\/|\*)/.test(text))
          complain(index + 1, `${call} comes in from outside, not here`)
      }
    }
  }
  complaints.push(...cycles(graph))
  return complaints
}

function cycles(graph: ReadonlyMap<string, readonly string[]>): Complaint[] {
  const state = new Map<string, 'open' | 'done'>()
  const found: Complaint[] = []
  const walk = (path: string, trail: readonly string[]): void => {
    const known = state.get(path)
    if (known === 'done') return
    if (known === 'open') {
      found.push({ path, line: 1, what: `import cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}` })
      return
    }
    state.set(path, 'open')
    for (const target of graph.get(path) ?? []) if (graph.has(target)) walk(target, [...trail, path])
    state.set(path, 'done')
  }
  for (const path of graph.keys()) walk(path, [])
  return found
}

/** Every TypeScript file of ours. */
export function readSources(root: string): SourceFile[] {
  const files: SourceFile[] = []
  for (const folder of ['src', 'testweb', 'test', 'bench', 'tools', 'examples', 'dashboard', 'kernel']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.tsx?$/.test(entry.name)) continue
      const path = relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')
      files.push({ path, text: readFileSync(join(root, path), 'utf8') })
    }
  }
  return files
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const complaints = tidy(readSources(fileURLToPath(new URL('..', import.meta.url))))
  for (const { path, line, what } of complaints) console.error(`${path}:${line}: ${what}`)
  process.exitCode = complaints.length === 0 ? 0 : 1
}
