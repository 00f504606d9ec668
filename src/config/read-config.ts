// Joins what the user said, in four places, into one checked and frozen configuration.
// Order: command line > environment > file > default. All complaints come at once.

import type { z } from 'zod'
import type { OptionKind } from '../base/index.ts'
import { NO_LIMIT } from '../base/options.ts'
import { type OptionRow, optionRows, type Sections } from './option-rows.ts'
import { describeIssue, type Problem, unknownName } from './problem.ts'

/** A value as the command line gave it: true for a flag alone, a list for a repeated one. */
export type FlagValue = string | true | readonly string[]

export interface ConfigSources {
  readonly flags: ReadonlyMap<string, FlagValue>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: { readonly name: string; readonly content: unknown } | null
}

export type Config<S extends Sections> = { readonly [K in keyof S]: Readonly<z.output<S[K]>> }

export type ConfigResult<S extends Sections> =
  | {
      readonly kind: 'config'
      readonly config: Config<S>
      /** What was said, as it was said, by section and key; defaults are not in it. */
      readonly said: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }

const ONCE = { jitless: true } as const

const ENVIRONMENT_PREFIX = 'PORTOLAN_'

export function environmentName(flag: string): string {
  return ENVIRONMENT_PREFIX + flag.toUpperCase().replaceAll('-', '_')
}

/** Environment names that speak to something else than the options. */
const OTHER_ENVIRONMENT = new Set(['PORTOLAN_MATERIAL', 'PORTOLAN_FAULTS', 'PORTOLAN_GUARDED', 'PORTOLAN_FROM_SOURCES'])

export function readConfig<S extends Sections>(sections: S, sources: ConfigSources): ConfigResult<S> {
  const rows = optionRows(sections)
  const problems: Problem[] = []
  const input = new Map<string, Record<string, unknown>>(Object.keys(sections).map((name) => [name, {}]))
  const saidWhere = new Map<string, string>()

  const say = (row: OptionRow, value: unknown, where: string): void => {
    ;(input.get(row.section) as Record<string, unknown>)[row.key] = value
    saidWhere.set(`${row.section}.${row.key}`, where)
  }

  if (sources.file !== null) readFile(sources.file, sections, rows, say, problems)

  const byFlag = new Map(rows.flatMap((row) => (row.facts.flag === undefined ? [] : [[row.facts.flag, row] as const])))
  const byEnvironment = new Map([...byFlag].map(([flag, row]) => [environmentName(flag), row]))
  for (const [name, text] of Object.entries(sources.environment)) {
    if (!name.startsWith(ENVIRONMENT_PREFIX) || text === undefined || OTHER_ENVIRONMENT.has(name)) continue
    const row = byEnvironment.get(name)
    if (row === undefined) problems.push(unknownEnvironment(name, rows, byEnvironment.keys()))
    else say(row, valueOf(row, row.facts.kind === 'list' ? [text] : text), name)
  }
  for (const [flag, value] of sources.flags) {
    const row = byFlag.get(flag)
    if (row === undefined) problems.push(unknownFlag(flag, rows, byFlag.keys()))
    else say(row, valueOf(row, value), `--${flag}`)
  }

  const config: Record<string, unknown> = {}
  for (const [section, schema] of Object.entries(sections)) {
    const given = input.get(section) ?? {}
    // Once: a parser made for the shape, which zod would compile first, costs more than it saves.
    const result = schema.safeParse(given, ONCE)
    if (result.success) {
      config[section] = deepFreeze(result.data)
      continue
    }
    const kinds = new Map(rows.filter((row) => row.section === section).map(({ key, facts }) => [key, facts.kind]))
    for (const issue of result.error.issues) {
      problems.push(problemOf(issue, section, given, saidWhere, kinds.get(String(issue.path[0]))))
    }
  }
  if (problems.length > 0) return { kind: 'problems', problems }
  return { kind: 'config', config: Object.freeze(config) as Config<S>, said: Object.fromEntries(input) }
}

/** Options that are called `name`, but can be said in a file only. */
function inFileOnly(name: string, rows: readonly OptionRow[]): string {
  const wanted = name.toLowerCase().replaceAll(/[-_]/g, '')
  const found = rows.filter(({ key, facts }) => facts.flag === undefined && key.toLowerCase() === wanted)
  return found.map(({ section, key }) => `${section}.${key}`).join(' or ')
}

function unknownFlag(flag: string, rows: readonly OptionRow[], known: Iterable<string>): Problem {
  const options = inFileOnly(flag, rows)
  const where = `--${flag}`
  const negated = flag.startsWith('no-') ? flag.slice('no-'.length) : null
  if (negated !== null && rows.some(({ facts }) => facts.flag === negated && facts.kind === 'yes-no')) {
    return { where, what: `is written --${negated}=no` }
  }
  return options === ''
    ? unknownName(where, flag, known, '--')
    : { where, what: `there is no such flag; set ${options} in a file named by --config` }
}

function unknownEnvironment(name: string, rows: readonly OptionRow[], known: Iterable<string>): Problem {
  const bare = name.slice(ENVIRONMENT_PREFIX.length)
  const options = inFileOnly(bare, rows)
  // The prefix is compared by nobody: it is right, and would only make every name look near.
  const { what } = unknownName(
    name,
    bare,
    [...known].map((one) => one.slice(ENVIRONMENT_PREFIX.length)),
    ENVIRONMENT_PREFIX,
  )
  const rule = 'only options with a flag can come from the environment'
  return {
    where: name,
    what:
      options === ''
        ? what.endsWith('?')
          ? `${what} (${rule})`
          : `${what}; ${rule}`
        : `${rule}; set ${options} in a file named by --config`,
  }
}

function readFile(
  file: { readonly name: string; readonly content: unknown },
  sections: Sections,
  rows: readonly OptionRow[],
  say: (row: OptionRow, value: unknown, where: string) => void,
  problems: Problem[],
): void {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject(file.content)) {
    problems.push({ where: file.name, what: 'the configuration must be an object of sections' })
    return
  }
  for (const [section, options] of Object.entries(file.content)) {
    const where = `${section} in ${file.name}`
    if (section === '$schema') continue
    if (!(section in sections)) {
      const misplaced = rows.find((row) => row.key === section || row.facts.flag === section)
      problems.push(
        misplaced === undefined
          ? unknownName(where, section, Object.keys(sections))
          : { where, what: `belongs into a section: "${misplaced.section}": { "${misplaced.key}": … }` },
      )
    } else if (!isObject(options)) {
      problems.push({ where, what: 'must be an object of options' })
    } else {
      for (const [key, value] of Object.entries(options)) {
        const row = rows.find((one) => one.section === section && one.key === key)
        const place = `${section}.${key} in ${file.name}`
        if (row !== undefined) say(row, value, place)
        else {
          const known = rows.filter((one) => one.section === section).map((one) => one.key)
          problems.push(unknownName(place, key, known))
        }
      }
    }
  }
}

/** The ways in which people and their scripts say yes and no. */
const YES_NO: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
])

/** Command line and environment know only text; the kind of the option says what the text means. */
function valueOf(row: OptionRow, value: FlagValue): unknown {
  if (row.facts.isLimit === true && typeof value === 'string' && value.trim().toLowerCase() === NO_LIMIT) return null
  switch (row.facts.kind) {
    case 'number':
      return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value
    case 'yes-no':
      return typeof value === 'string' ? (YES_NO.get(value.trim().toLowerCase()) ?? value) : value
    case 'list':
      return value === true ? value : listOf(typeof value === 'string' ? [value] : value)
    default:
      return value
  }
}

/** An empty text empties the list: how what a crawl remembers is taken back. What is said after it counts. */
function listOf(texts: readonly string[]): readonly string[] {
  return texts.slice(texts.lastIndexOf('') + 1)
}

function problemOf(
  issue: z.core.$ZodIssue,
  section: string,
  given: Readonly<Record<string, unknown>>,
  saidWhere: ReadonlyMap<string, string>,
  kind: OptionKind | undefined,
): Problem {
  const [key, ...deeper] = issue.path
  let received: unknown = given[String(key)]
  for (const step of deeper) received = (received as Record<PropertyKey, unknown> | undefined)?.[step]
  const place = saidWhere.get(`${section}.${String(key)}`) ?? `${section}.${String(key)}`
  // Which of the texts of a repeated flag it is, the complaint says by quoting it.
  const isOfFlag = place.startsWith('--') && deeper.length === 1
  return {
    where: deeper.length === 0 || isOfFlag ? place : `${place} (${deeper.join('.')})`,
    what: describeIssue(issue, received, deeper.length === 0 ? kind : undefined),
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !(value instanceof RegExp)) {
    for (const inner of Object.values(value)) deepFreeze(inner)
    Object.freeze(value)
  }
  return value
}
