// Regular expressions of users, matched in time that grows with the text only. A pattern meets URLs that strangers
// write; one like `(a+)+$` would let a single link stop the crawl for centuries (decision 0032).
//
//   no repetition, one choice at most ──▶ the engine of the language: every start is tried once
//   anything else                     ──▶ RE2, which walks all readings at the same time
//   what looks around or back at groups ─▶ refused: nobody can bound it
//
// A pattern means what it means in JavaScript, without flags; what RE2 would read otherwise is rewritten for it.

import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

/** What a compiled pattern can do. */
export interface BoundedPattern {
  /** Whether it is found anywhere in the text. */
  test(text: string): boolean
}

/** A longer pattern is a mistake, and compiling one takes time that grows with it. */
const PATTERN_LENGTH_MAX = 2_000

/** Letters that carry no meaning in JavaScript behind a backslash, and do in RE2. */
const RE2_ONLY_ESCAPES = new Set(['A', 'C', 'E', 'P', 'Q', 'a', 'p', 'z'])

/** What is wrong with a pattern, or null. */
export function patternComplaint(source: string): string | null {
  if (source.length > PATTERN_LENGTH_MAX) return `a regular expression has ${PATTERN_LENGTH_MAX} characters at most`
  let expression: RegExp
  try {
    expression = new RegExp(source)
  } catch (cause) {
    return `'${source}' is not a regular expression: ${(cause as Error).message}`
  }
  const { looksAround, isPlain } = read(source)
  if (looksAround) {
    return (
      `'${source}' looks ahead, behind or back at a group, which takes time without bound on some URLs; ` +
      'say it with include, exclude, or a filter of all, any and not'
    )
  }
  try {
    if (!isPlain) compileRe2(expression)
    return null
  } catch (cause) {
    return `'${source}' cannot be matched in bounded time: ${(cause as Error).message}`
  }
}

/** Compiles a pattern that patternComplaint() had nothing against. */
export function boundPattern(expression: RegExp): BoundedPattern {
  // A pattern with a memory (flags g and y) would answer every other time.
  if (read(expression.source).isPlain) {
    return new RegExp(expression.source, expression.flags.replace(/[gy]/g, ''))
  }
  return compileRe2(expression)
}

let re2: typeof RE2JS | null = null

function compileRe2({ source, ignoreCase, multiline, dotAll }: RegExp): BoundedPattern {
  // Only now: most crawls have no such pattern, and loading it takes 30 ms.
  re2 ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS
  const flags = (ignoreCase ? re2.CASE_INSENSITIVE : 0) | (multiline ? re2.MULTILINE : 0) | (dotAll ? re2.DOTALL : 0)
  return re2.compile(re2.translateRegExp(read(source).forRe2), flags)
}

interface ReadPattern {
  /** No repetition, and at most one choice: tried at every place of the text, it takes as many steps as it has letters. */
  readonly isPlain: boolean
  readonly looksAround: boolean
  /** The same pattern where the two languages would read it differently. */
  readonly forRe2: string
}

/** One walk over a valid pattern. */
function read(source: string): ReadPattern {
  let forRe2 = ''
  let isInClass = false
  let repeats = false
  let looksAround = false
  let groups = 0
  let choices = 0
  for (let i = 0; i < source.length; i++) {
    const character = source.charAt(i)
    if (character === '\\') {
      const next = source.charAt(++i)
      if (!isInClass && (/[1-9]/.test(next) || (next === 'k' && source.charAt(i + 1) === '<'))) looksAround = true
      forRe2 += RE2_ONLY_ESCAPES.has(next) ? next : `\\${next}`
      continue
    }
    if (isInClass) {
      if (character === ']') isInClass = false
      // `[[:alpha:]]` is a class of JavaScript that holds a bracket.
      forRe2 += character === '[' ? '\\[' : character
      continue
    }
    forRe2 += character
    if (character === '[') {
      isInClass = true
      // `[]` and `[^]` are whole, and translated as such; a bracket that comes first is no letter in JavaScript.
      if (source.startsWith('^', i + 1)) forRe2 += source.charAt(++i)
    } else if (character === '(') {
      groups++
      if (/^\?(?:[=!]|<[=!])/.test(source.slice(i + 1, i + 4))) looksAround = true
      // The question mark of `(?:` repeats nothing.
      if (source.charAt(i + 1) === '?') forRe2 += source.charAt(++i)
    } else if (character === '|') choices++
    else if (character === '*' || character === '+' || character === '?' || character === '{') repeats = true
  }
  const isPlain = !repeats && !looksAround && (choices === 0 || groups <= 1)
  return { isPlain, looksAround, forRe2 }
}
