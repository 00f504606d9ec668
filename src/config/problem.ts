// What is wrong with arguments or configuration, in words that name the place, the problem and the
// nearest right thing.

import type { z } from 'zod'
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

/** One zod issue in our words. `received` is the value that was refused. */
export function describeIssue(issue: z.core.$ZodIssue, received: unknown): string {
  const shown = typeof received === 'string' ? `'${received}'` : JSON.stringify(received)
  switch (issue.code) {
    case 'invalid_type':
      return `${shown} is not ${EXPECTED[issue.expected] ?? `a ${issue.expected}`}`
    case 'too_small':
      return `${shown} is too small; the least is ${String(issue.minimum)}`
    case 'too_big':
      return `${shown} is too large; the most is ${String(issue.maximum)}`
    case 'invalid_value': {
      const words = issue.values.map(String)
      const meant = typeof received === 'string' ? nearest(received, words) : null
      return `${shown} is not one of ${words.join(', ')}${meant === null ? '' : `; did you mean ${meant}?`}`
    }
    default:
      return issue.message
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}
