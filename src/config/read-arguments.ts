// The command line, taken apart: flags with their values, words without. No meaning yet.

import { parseArgs } from 'node:util'
import type { FlagValue } from './read-config.ts'
import type { Problem } from './problem.ts'

export interface FlagShape {
  readonly takesValue: boolean
  readonly repeats: boolean
}

export interface ReadArguments {
  readonly flags: Map<string, FlagValue>
  readonly words: string[]
  readonly problems: Problem[]
}

/** `shapes` knows the flags; an unknown one is kept by its name, for the caller to complain about. */
export function readArguments(args: readonly string[], shapes: ReadonlyMap<string, FlagShape>): ReadArguments {
  const flags = new Map<string, FlagValue>()
  const words: string[] = []
  const problems: Problem[] = []
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      [...shapes].map(([flag, shape]) => [flag, { type: shape.takesValue ? 'string' : 'boolean' } as const]),
    ),
  })
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'positional') {
      // What follows an unknown flag was meant for it; a second complaint about it would only confuse.
      const before = tokens[index - 1]
      const isMeantForFlag = before?.kind === 'option' && !shapes.has(before.name) && before.inlineValue === undefined
      if (!isMeantForFlag) words.push(token.value)
    }
    if (token.kind !== 'option') continue
    const shape = shapes.get(token.name)
    const where = token.rawName
    if (shape === undefined) {
      flags.set(token.name, token.value ?? true)
    } else if (!shape.takesValue) {
      flags.set(token.name, token.value ?? true)
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      problems.push({ where, what: 'needs a value' })
    } else if (shape.repeats) {
      const earlier = flags.get(token.name)
      flags.set(token.name, [...(Array.isArray(earlier) ? (earlier as string[]) : []), token.value])
    } else if (flags.has(token.name)) {
      problems.push({ where, what: 'is given twice' })
    } else {
      flags.set(token.name, token.value)
    }
  }
  return { flags, words, problems }
}
