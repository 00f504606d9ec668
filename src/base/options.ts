// How a room declares its options: one zod schema per room, in its options.ts, whose keys are the
// names of the configuration file. From the schemas come the types, the command line's flags,
// docs/config.md and the published JSON schema, so that a default is written down once.

import { z } from 'zod'
import { patternComplaint } from './bounded-pattern.ts'
import { formatBytes, formatDuration, parseDuration, parseSize } from './units.ts'

/** What the docs and the command line know of an option beside its type. */
export interface OptionFacts {
  /** One line: what it does, in the words of the user. */
  readonly text: string
  /** The name on the command line, without dashes; options without one live in the file only. */
  readonly flag?: string
  /** What stands for the value in help: `--delay DURATION`. */
  readonly placeholder?: string
}

/** How a value is written on the command line and in docs. */
export type OptionKind = 'duration' | 'size' | 'number' | 'choice' | 'yes-no' | 'text' | 'list' | 'shaped'

export interface RegisteredFacts extends OptionFacts {
  readonly kind: OptionKind
  /** The default as a person would write it. */
  readonly defaultText: string
  /** Null in a file, `none` on the command line: no limit, also where the crawl remembers one. */
  readonly isLimit?: boolean
}

/** How the command line says that there is no limit. */
export const NO_LIMIT = 'none'

const registry = z.registry<RegisteredFacts>()

/** The facts of an option's schema, or undefined if it was not made by the functions below. */
export function optionFacts(schema: z.ZodType): RegisteredFacts | undefined {
  return registry.get(schema)
}

function register<T extends z.ZodType>(
  schema: T,
  kind: OptionKind,
  facts: OptionFacts,
  defaultText: string,
  placeholder?: string,
): T {
  registry.add(schema, { ...(placeholder === undefined ? {} : { placeholder }), ...facts, kind, defaultText })
  return schema
}

function registerLimit<T extends z.ZodType>(schema: T, kind: OptionKind, facts: OptionFacts, placeholder: string): T {
  registry.add(schema, {
    placeholder: `${placeholder}|${NO_LIMIT}`,
    ...facts,
    kind,
    defaultText: 'no limit',
    isLimit: true,
  })
  return schema
}

/** '-5s' is read as far as it goes: whoever writes it is told about the sign, not about the unit. */
function isNegative(text: string, parse: (text: string) => number | null): boolean {
  const trimmed = text.trim()
  return trimmed.startsWith('-') && parse(trimmed.slice(1)) !== null
}

/** A text that `read` makes a number of; where it cannot, the complaint is a sentence of its own. */
function measured(
  read: (text: string) => number | { readonly complaint: string },
): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  return z.string().transform((text, context) => {
    const value = read(text)
    if (typeof value === 'number') return value
    context.addIssue({ code: 'custom', message: value.complaint })
    return z.NEVER
  })
}

/** A duration with a unit, in milliseconds once read. */
export function duration(
  defaultText: string,
  facts: OptionFacts,
  bounds: { readonly minMs?: number; readonly maxMs?: number } = {},
): z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>> {
  const minMs = bounds.minMs ?? 0
  const maxMs = bounds.maxMs ?? Number.MAX_SAFE_INTEGER
  const schema = measured((text) => {
    if (isNegative(text, parseDuration)) return { complaint: `'${text}' must not be negative` }
    const ms = parseDuration(text)
    if (ms === null) return { complaint: `'${text}' is not a duration; write it with a unit, like 250ms, 1s, 10m` }
    if (ms < minMs) return { complaint: `'${text}' is too short; the least is ${formatDuration(minMs)}` }
    return ms > maxMs ? { complaint: `'${text}' is too long; the most is ${formatDuration(maxMs)}` } : ms
  }).prefault(defaultText)
  return register(schema, 'duration', facts, defaultText, 'DURATION')
}

/** Nobody is told to write what would be refused next: of these the first that are large enough. */
const SIZE_EXAMPLES = ['512KiB', '64MiB', '1GiB', '4GiB'] as const

function measuredSize(minBytes: number): ReturnType<typeof measured> {
  const examples = SIZE_EXAMPLES.filter((example) => (parseSize(example) ?? 0) >= minBytes)
    .slice(0, 3)
    .join(', ')
  return measured((text) => {
    if (isNegative(text, parseSize)) return { complaint: `'${text}' must not be negative` }
    const bytes = parseSize(text)
    if (bytes === null) return { complaint: `'${text}' is not a size; write it with a unit, like ${examples}` }
    return bytes < minBytes ? { complaint: `'${text}' is too small; the least is ${formatBytes(minBytes)}` } : bytes
  })
}

/** A size with a unit, in bytes once read. */
export function size(
  defaultText: string,
  facts: OptionFacts,
  minBytes = 0,
): z.ZodPrefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>> {
  return register(measuredSize(minBytes).prefault(defaultText), 'size', facts, defaultText, 'SIZE')
}

/** A whole number. */
export function count(
  fallback: number,
  facts: OptionFacts,
  bounds: { readonly min?: number; readonly max?: number } = {},
): z.ZodDefault<z.ZodInt> {
  const schema = z
    .int()
    .min(bounds.min ?? 0)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER)
    .default(fallback)
  return register(schema, 'number', facts, String(fallback), 'N')
}

/** A number that need not be whole. */
export function factor(fallback: number, facts: OptionFacts, max = Infinity): z.ZodDefault<z.ZodNumber> {
  const number = z.number().min(0)
  const schema = max === Infinity ? number : number.max(max)
  return register(schema.default(fallback), 'number', facts, String(fallback), 'X')
}

/** A limit that is off unless given. */
export function limit(facts: OptionFacts, min = 1): z.ZodDefault<z.ZodNullable<z.ZodInt>> {
  return registerLimit(z.int().min(min).nullable().default(null), 'number', facts, 'N')
}

/** A whole number that depends on the machine unless given; `usual` says how. */
export function countOrUsual(
  usual: string,
  facts: OptionFacts,
  bounds: { readonly min: number; readonly max: number },
): z.ZodDefault<z.ZodNullable<z.ZodInt>> {
  return register(z.int().min(bounds.min).max(bounds.max).nullable().default(null), 'number', facts, usual, 'N')
}

/** A whole number, or a word for what no number says, which is the default. */
export function countOrWord<const W extends string>(
  word: W,
  facts: OptionFacts,
  bounds: { readonly min: number; readonly max: number },
): z.ZodDefault<z.ZodType<W | number, W | number>> {
  const schema = z.union([z.int().min(bounds.min).max(bounds.max), z.literal(word)])
  const type = schema as unknown as z.ZodType<W | number, W | number>
  return register(type.default(word as never), 'number', facts, word, `${word}|N`)
}

/** A limit that need not be whole, off unless given. */
export function factorLimit(facts: OptionFacts, min: number): z.ZodDefault<z.ZodNullable<z.ZodNumber>> {
  return registerLimit(z.number().min(min).nullable().default(null), 'number', facts, 'X')
}

/** A size that is off unless given, in bytes once read. */
export function sizeLimit(
  facts: OptionFacts,
  minBytes: number,
): z.ZodDefault<z.ZodNullable<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>> {
  return registerLimit(measuredSize(minBytes).nullable().default(null), 'size', facts, 'SIZE')
}

/** A duration that is off unless given, in milliseconds once read. */
export function durationLimit(
  facts: OptionFacts,
): z.ZodDefault<z.ZodNullable<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>> {
  const schema = measured((text) => {
    const ms = parseDuration(text)
    if (ms === 0 || isNegative(text, parseDuration)) return { complaint: `'${text}' must be more than 0` }
    return ms ?? { complaint: `'${text}' is not a duration; write it with a unit, like 30s, 10m, 2h` }
  })
    .nullable()
    .default(null)
  return registerLimit(schema, 'duration', facts, 'DURATION')
}

/** One of a closed list of words. */
export function choice<const T extends readonly [string, ...string[]]>(
  words: T,
  fallback: T[number],
  facts: OptionFacts,
): z.ZodDefault<z.ZodType<T[number], T[number]>> {
  const schema = (z.enum(words) as unknown as z.ZodType<T[number], T[number]>).default(fallback as never)
  return register(schema, 'choice', facts, fallback, words.join('|'))
}

/** Yes or no. On the command line the flag alone means yes; `--flag=false` means no. */
export function yesNo(fallback: boolean, facts: OptionFacts): z.ZodDefault<z.ZodBoolean> {
  return register(z.boolean().default(fallback), 'yes-no', facts, fallback ? 'yes' : 'no')
}

/** Free text. `complaintOf` says what is wrong with one, or null; the default is not asked about. */
export function text(
  fallback: string,
  facts: OptionFacts,
  complaintOf: (text: string) => string | null = () => null,
): z.ZodDefault<z.ZodString> {
  const schema = z
    .string()
    .superRefine((value, context) => {
      const message = complaintOf(value)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
    .default(fallback)
  return register(schema, 'text', facts, fallback === '' ? 'empty' : fallback, 'TEXT')
}

/** Any number of texts; on the command line the flag may be repeated. */
export function texts(facts: OptionFacts): z.ZodDefault<z.ZodArray<z.ZodString>> {
  return register(z.array(z.string()).default([]), 'list', facts, 'none', 'TEXT')
}

/** One regular expression, checked here; whoever uses it makes it one that is bounded in time (boundPattern). */
export const pattern: z.ZodPipe<z.ZodString, z.ZodTransform<RegExp, string>> = z
  .string()
  .transform((source, context) => {
    const message = patternComplaint(source)
    if (message === null) return new RegExp(source)
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

/** Regular expressions. The flag may be repeated. */
export function patterns(facts: OptionFacts): z.ZodDefault<z.ZodArray<typeof pattern>> {
  return register(z.array(pattern).default([]), 'list', facts, 'none', 'REGEXP')
}

/** An option of a shape of its own, e.g. a list of rules. With a flag it must be a list of texts, and the flag may be repeated. */
export function shaped<T extends z.ZodType>(schema: T, facts: OptionFacts, defaultText: string): T {
  return register(schema, facts.flag === undefined ? 'shaped' : 'list', facts, defaultText)
}
