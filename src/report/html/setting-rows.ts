// Settings as people write them, and only those that were changed: a hundred defaults hide the three
// that matter, and crawl.json has them all.

import type { z } from 'zod'
import { SECTIONS } from '../../agent/options.ts'
import { formatBytes, formatDuration, type OptionKind } from '../../base/index.ts'
import { optionFacts } from '../../base/options.ts'
import { shorten } from './markup.ts'

/** Where kinds and defaults are known from. What stands nowhere here is shown as it is. */
const SCHEMAS: Readonly<Record<string, z.ZodObject>> = SECTIONS

/** A report is passed around: values under such names stay at home. */
const SECRET_NAME = /auth|login|passw|secret|token|credential|cookie|header|proxy|key$/i
const TEXT_CHARACTERS_MAX = 300

export type SettingRow = readonly [name: string, text: string]

/** The settings that differ from their defaults, nested by room in `options`, as dotted names and short texts. */
export function changedSettings(options: Readonly<Record<string, unknown>>): SettingRow[] {
  return Object.entries(options).flatMap(([room, values]): SettingRow[] => {
    const schema = Object.hasOwn(SCHEMAS, room) ? SCHEMAS[room] : undefined
    if (schema === undefined || !isObject(values)) return flatten({ [room]: values })
    const defaults = schema.parse({}, { jitless: true })
    return Object.entries(values).flatMap(([key, value]): SettingRow[] => {
      const option = Object.hasOwn(schema.shape, key) ? (schema.shape[key] as z.ZodType) : undefined
      if (option === undefined) return flatten({ [key]: value }, room)
      if (JSON.stringify(value) === JSON.stringify(defaults[key])) return []
      const text = SECRET_NAME.test(key) ? secretText(value) : shortText(value, optionFacts(option)?.kind)
      return [[`${room}.${key}`, text]]
    })
  })
}

/** Settings of which nothing is known but their names; secrets only as being set. */
function flatten(options: Readonly<Record<string, unknown>>, prefix = ''): SettingRow[] {
  return Object.entries(options).flatMap(([name, value]): SettingRow[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    if (SECRET_NAME.test(name)) return [[path, secretText(value)]]
    return isObject(value) ? flatten(value, path) : [[path, shortText(value)]]
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== null && value !== undefined && value !== ''
}

function secretText(value: unknown): string {
  return isSet(value) ? '(set, not shown)' : 'not set'
}

function shortText(value: unknown, kind: OptionKind = 'shaped'): string {
  return shorten(isSet(value) ? textOf(value, kind) : 'not set', TEXT_CHARACTERS_MAX)
}

function textOf(value: unknown, kind: OptionKind): string {
  if (typeof value === 'number' && kind === 'duration') return formatDuration(value)
  if (typeof value === 'number' && kind === 'size') return formatBytes(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  const text = isList ? value.join(', ') : typeof value === 'string' ? value : JSON.stringify(value)
  // User names and passwords in URLs are secrets wherever they stand.
  return text.replace(/:\/\/[^/@\s"]+@/g, '://')
}
