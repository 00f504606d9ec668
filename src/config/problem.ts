// What is wrong with arguments or configuration, in words that name the place, the problem and the
// nearest right thing.

import type { z } from 'zod'
import type { OptionKind } from '../base/index.ts'
import { nearest } from './nearest.ts'

export interface Problem {
  /** `--delay`, `PORTOLAN_DELAY` or `frontier.delay in portolan.config.json`. */
  readonly where: string
  readonly what: string
}

export function unknownName(where: string, word: string, known: Iterable<string>, prefix = ''): Problem {
  const meant = nearest(word, known)
  return { where, what: `unknown${meant === null ? '' : `; did you mean ${prefix}${meant}?`}` }
}

/** One zod issue in our words. `received` is the value that was refused, `kind` that of the whole option. */
export function describeIssue(issue: z.core.$ZodIssue, received: unknown, kind?: OptionKind): string {
  if (received === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value')) return 'is missing'
  const shown = typeof received === 'string' ? `'${received}'` : JSON.stringify(received)
  switch (issue.code) {
    case 'invalid_type':
      if (kind === 'duration') return `${shown} is not a duration; write it as text with a unit, like "1s"`
      if (kind === 'size') return `${shown} is not a size; write it as text with a unit, like "1GiB"`
      return `${shown} is not ${EXPECTED[issue.expected] ?? `a ${issue.expected}`}`
    case 'too_small':
      if (Array.isArray(received)) return `has ${received.length}; the least is ${String(issue.minimum)}`
      return `${shown} is too small; the least is ${String(issue.minimum)}`
    case 'too_big':
      if (Array.isArray(received)) return `has ${received.length}; the most is ${String(issue.maximum)}`
      return `${shown} is too large; the most is ${String(issue.maximum)}`
    case 'invalid_value': {
      const words = issue.values.map(String)
      const meant = typeof received === 'string' ? nearest(received, words) : null
      return `${shown} is not one of ${words.join(', ')}${meant === null ? '' : `; did you mean ${meant}?`}`
    }
    case 'invalid_key':
      return issue.issues.map(({ message }) => message).join('; ')
    case 'unrecognized_keys':
      return `${issue.keys.map((key) => `'${key}'`).join(', ')} ${issue.keys.length === 1 ? 'is' : 'are'} unknown here`
    case 'invalid_union':
      return received === undefined ? 'is missing' : describeUnion(issue, received, kind)
    default:
      return issue.message
  }
}

/** Of several ways to write a value, the complaint about the one that was meant; the ways themselves where it was none. */
function describeUnion(issue: z.core.$ZodIssueInvalidUnion, received: unknown, kind?: OptionKind): string {
  const isOther = ({ code, path }: z.core.$ZodIssue): boolean => code === 'invalid_type' && path.length === 0
  const meant = issue.errors.find((way) => !way.some(isOther))?.[0]
  if (meant !== undefined) {
    let inner = received
    for (const step of meant.path) inner = (inner as Record<PropertyKey, unknown> | undefined)?.[step]
    return describeIssue(meant, inner, kind)
  }
  const ways = issue.errors.flat().map((one) => ('expected' in one ? (EXPECTED[one.expected] ?? one.expected) : ''))
  return `${JSON.stringify(received)} is not ${ways.join(' or ')}`
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}
