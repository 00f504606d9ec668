// The options of all rooms as one flat list: what the command line, the docs and the checks go by.

import type { z } from 'zod'
import { assert, type RegisteredFacts } from '../base/index.ts'
import { optionFacts } from '../base/options.ts'

export type Sections = Readonly<Record<string, z.ZodObject>>

export interface OptionRow {
  readonly section: string
  readonly key: string
  readonly facts: RegisteredFacts
}

/** Every option in the order of the rooms; asserts that each was declared with its facts and flags are unique. */
export function optionRows(sections: Sections): OptionRow[] {
  const rows: OptionRow[] = []
  const flags = new Set<string>()
  for (const [section, schema] of Object.entries(sections)) {
    for (const [key, option] of Object.entries(schema.shape)) {
      const facts = optionFacts(option as z.ZodType)
      assert(facts !== undefined, `option ${section}.${key} was declared without its facts`)
      if (facts.flag !== undefined) {
        assert(!flags.has(facts.flag), `flag --${facts.flag} is declared twice, again by ${section}.${key}`)
        flags.add(facts.flag)
      }
      rows.push({ section, key, facts })
    }
  }
  return rows
}

/** `--delay DURATION`; one that is on by default is shown as it is switched off: `--conditional=no`. */
export function flagText({ flag, kind, placeholder, defaultText }: RegisteredFacts): string {
  if (flag === undefined) return ''
  if (kind === 'yes-no') return defaultText === 'yes' ? `--${flag}=no` : `--${flag}`
  return placeholder === undefined ? `--${flag}` : `--${flag} ${placeholder}`
}
