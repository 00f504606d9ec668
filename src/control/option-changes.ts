// Options changed through the API: checked by the same code as the command line's, each complaint with the field it is about; and when
// a change takes effect.
//
//   said before + options ──▶ readConfig ──▶ what is said now, and what holds then

import { totalmem } from 'node:os'
import { z } from 'zod'
import { leastMemory, type Speed } from '../agent/index.ts'
import { formatBytes } from '../base/index.ts'
import { type CrawlConfig, optionRows, type OptionRow, type Problem, readConfig, SECTIONS } from '../config/index.ts'
import type { AnswerOf, CrawlInfo } from './api.ts'
import { SPEED_OPTIONS } from './kept-steering.ts'
import { FieldsFault } from './refusals.ts'
import type { SaidOptions } from './steered-crawl.ts'

export type TakesEffect = 'now' | 'anew' | 'never'

/** Why an option cannot be changed; null where it can. */
export type FixedReason = (option: Pick<OptionRow, 'section' | 'key'>) => string | null

const FIXED: Readonly<Record<string, string>> = {
  'url.sessionIds': 'the URLs that were met would have other names; start in a new directory',
  engine: 'a crawl of one machine is not made one of a cluster; set that up in a new directory',
}

const fixedOnOneMachine: FixedReason = ({ section, key }) => FIXED[`${section}.${key}`] ?? FIXED[section] ?? null

const SECRET = new Set(['fetch.logins', 'fetch.headers', 'fetch.proxy'])
const WITHHELD = '[withheld]'

/** A speed can be set on a crawl that runs; everything else opens it anew. */
export function takesEffectOf(section: string, key: string, fixed = fixedOnOneMachine): TakesEffect {
  if (fixed({ section, key }) !== null) return 'never'
  return section === 'agent' && key in SPEED_OPTIONS ? 'now' : 'anew'
}

export interface CheckedChange {
  readonly options: SaidOptions
  /** All that is said now. */
  readonly said: SaidOptions
  readonly config: CrawlConfig
  readonly takesEffect: 'now' | 'anew'
  /** Where it takes effect now: what to tell the agents. */
  readonly speed: Partial<Speed> | null
  /** Limits of speed among what is changed, whenever it takes effect. */
  readonly limits: Partial<Speed>
}

/** `null` for an option: as usual again. Throws a FieldsFault that names every field that is wrong. */
export function checkChange(said: SaidOptions, options: SaidOptions, fixed = fixedOnOneMachine): CheckedChange {
  const merged: Record<string, Record<string, unknown>> = {}
  for (const [section, own] of Object.entries(said)) merged[section] = { ...own }
  for (const [section, own] of Object.entries(options)) {
    const now = { ...merged[section] }
    for (const [key, value] of Object.entries(own)) {
      if (value === null) delete now[key]
      else now[key] = value
    }
    merged[section] = now
  }
  const problems = fixedProblems(said, options, fixed)
  // Unknown names are complained about also where they are taken back.
  const asked = checked(nonNull(options))
  const result = checked(merged)
  if (result.kind === 'problems' || asked.kind === 'problems') {
    problems.push(...(asked.kind === 'problems' ? asked.problems : []))
    if (problems.length === 0 && result.kind === 'problems') problems.push(...result.problems)
  } else problems.push(...memoryProblems(options, result.config))
  if (problems.length > 0 || result.kind === 'problems') throw new FieldsFault(problems.map(fieldOf))
  const { config } = result
  const keys = Object.entries(options).flatMap(([section, own]) =>
    Object.keys(own).map((key) => [section, key] as const),
  )
  const isNow = keys.every(([section, key]) => takesEffectOf(section, key) === 'now')
  const limits = speedOf(keys, config)
  return {
    options,
    said: merged,
    config,
    takesEffect: isNow ? 'now' : 'anew',
    speed: isNow ? limits : null,
    limits,
  }
}

function checked(content: unknown): ReturnType<typeof readConfig<typeof SECTIONS>> {
  return readConfig(SECTIONS, { flags: new Map(), environment: {}, file: { name: 'options', content } })
}

/** What is said with a value; unknown sections and keys stay, to be complained about. */
function nonNull(options: SaidOptions): SaidOptions {
  const known = new Set(optionRows(SECTIONS).map(({ section, key }) => `${section}.${key}`))
  return Object.fromEntries(
    Object.entries(options).map(([section, own]) => [
      section,
      Object.fromEntries(
        Object.entries(own).filter(([key, value]) => value !== null || !known.has(`${section}.${key}`)),
      ),
    ]),
  )
}

function fixedProblems(said: SaidOptions, options: SaidOptions, fixed: FixedReason): Problem[] {
  return Object.entries(options).flatMap(([section, own]) =>
    Object.entries(own).flatMap(([key, value]) => {
      const why = fixed({ section, key })
      const isSame = JSON.stringify(value) === JSON.stringify(said[section]?.[key] ?? null)
      return why === null || isSame ? [] : [{ where: `${section}.${key} in options`, what: `cannot change: ${why}` }]
    }),
  )
}

/** What would only be noticed when the crawl is closed already. */
function memoryProblems(options: SaidOptions, { agent }: CrawlConfig): Problem[] {
  const own = options['agent'] ?? {}
  if (!('memory' in own) && !('agents' in own)) return []
  const where = 'memory' in own ? 'agent.memory in options' : 'agent.agents in options'
  const machine = totalmem()
  if (agent.memory > machine && 'memory' in own) {
    return [{ where, what: `${formatBytes(agent.memory)} is more than this machine has: ${formatBytes(machine)}` }]
  }
  const least = leastMemory(agent.agents ?? 1)
  return agent.memory >= least
    ? []
    : [{ where, what: `${agent.agents ?? 1} agents need ${formatBytes(least)} of memory or more` }]
}

/** `url.exclude in options (0)` is the field options.url.exclude.0. */
export function fieldOf({ where, what }: Problem): Problem {
  const found = /^(.+) in options(?: \((.+)\))?$/.exec(where)
  if (found === null) return { where: where === 'options' ? where : `options.${where}`, what }
  const [, name = '', deeper] = found
  return { where: `options.${name}${deeper === undefined ? '' : `.${deeper}`}`, what }
}

function speedOf(keys: readonly (readonly [string, string])[], { agent }: CrawlConfig): Partial<Speed> {
  return Object.fromEntries(keys.flatMap(([, key]) => (isSpeedOption(key) ? [[SPEED_OPTIONS[key], agent[key]]] : [])))
}

/** A speed as the options that say it. */
export function optionsOfSpeed(speed: Partial<Speed>): SaidOptions {
  const said = Object.entries(SPEED_OPTIONS).flatMap(([key, name]) => (name in speed ? [[key, speed[name]]] : []))
  return { agent: Object.fromEntries(said) as Record<string, unknown> }
}

/** As `checkChange`; complaints name the limits as whoever set them did. */
export function checkSpeed(said: SaidOptions, options: SaidOptions): CheckedChange {
  try {
    return checkChange(said, options)
  } catch (fault) {
    if (!(fault instanceof FieldsFault)) throw fault
    const names = new Map<string, string>(
      Object.entries(SPEED_OPTIONS).map(([key, name]) => [`options.agent.${key}`, name]),
    )
    throw new FieldsFault(fault.fields.map(({ where, what }) => ({ where: names.get(where) ?? where, what })))
  }
}

function isSpeedOption(key: string): key is keyof typeof SPEED_OPTIONS {
  return key in SPEED_OPTIONS
}

/** What a crawl is held to that is meant so. */
export function limitsOf({ agent }: CrawlConfig): NonNullable<CrawlInfo['limits']> {
  return {
    maxPages: agent.maxPages,
    maxTimeMs: agent.maxTime,
    connections: agent.connections,
    ratePerSecond: agent.maxRate,
    bytesPerSecond: agent.maxBandwidth,
  }
}

/** Options for the record, without what must not be kept. */
export function withoutSecrets(options: SaidOptions): SaidOptions {
  return Object.fromEntries(
    Object.entries(options).map(([section, own]) => [
      section,
      Object.fromEntries(Object.entries(own).map(([key, value]) => [key, shown(section, key, value)])),
    ]),
  )
}

function shown(section: string, key: string, value: unknown): unknown {
  const name = `${section}.${key}`
  if (!SECRET.has(name) || value === null || value === undefined) return value
  if (name === 'fetch.proxy' && typeof value === 'string') return value.replace(/\/\/.*@/s, `//${WITHHELD}@`)
  if (name === 'fetch.logins' && Array.isArray(value)) {
    return value.map((login: unknown) =>
      typeof login === 'object' && login !== null && 'password' in login ? { ...login, password: WITHHELD } : login,
    )
  }
  if (name === 'fetch.headers' && typeof value === 'object') {
    return Object.fromEntries(Object.keys(value).map((header) => [header, WITHHELD]))
  }
  return WITHHELD
}

/** Every option with what was said of it. */
export function listSettings(said: SaidOptions, fixed = fixedOnOneMachine): AnswerOf<'settings'> {
  return {
    settings: optionRows(SECTIONS).map((row) => {
      const { section, key, facts } = row
      const value = said[section]?.[key]
      const usual = usualOf(row)
      return {
        name: `${section}.${key}`,
        section,
        key,
        flag: facts.flag ?? null,
        text: facts.text,
        value: value === undefined ? usual : shown(section, key, value),
        usual,
        usualText: facts.defaultText,
        isSaid: value !== undefined,
        takesEffect: takesEffectOf(section, key, fixed),
        schema: schemaOf(row),
      }
    }),
  }
}

/** The default as one would write it in a file; null where there is none to write. */
function usualOf({ facts }: OptionRow): unknown {
  if (facts.isLimit === true) return null
  switch (facts.kind) {
    case 'number': {
      const number = Number(facts.defaultText)
      return Number.isFinite(number) ? number : null
    }
    case 'yes-no':
      return facts.defaultText === 'yes'
    case 'list':
      return facts.defaultText === 'none' ? [] : null
    case 'shaped':
      return null
    case 'text':
      return facts.defaultText === 'empty' ? '' : facts.defaultText
    default:
      return facts.defaultText
  }
}

const schemas = new Map<string, unknown>()

function schemaOf({ section, key }: OptionRow): unknown {
  const name = `${section}.${key}`
  if (!schemas.has(name)) {
    const shape = SECTIONS[section as keyof typeof SECTIONS].shape as Readonly<Record<string, z.ZodType>>
    const { $schema: _, ...schema } = z.toJSONSchema(shape[key] as z.ZodType, { io: 'input', unrepresentable: 'any' })
    schemas.set(name, schema)
  }
  return schemas.get(name)
}
