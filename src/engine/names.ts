// Names in the engine: parts of letters, digits, `-` and `_`, joined by dots. Whatever keeps to this is a subject, a key and
// an object's name in NATS as it stands; everything else is refused before it is sent, and so is what is too large.

import { assert, Fault } from '../base/index.ts'
import { ENTRY_BYTES_MAX } from './engine.ts'

export const NAME_CHARS_MAX = 200
const PARTS = /^[\w-]+(?:\.[\w-]+)*$/
const PATTERN = /^(?:[\w-]+|\*)(?:\.(?:[\w-]+|\*))*(?:\.>)?$|^>$/
const CRAWL = /^[A-Za-z0-9][\w-]{0,63}$/

export function checkName(name: string): void {
  assert(
    name.length <= NAME_CHARS_MAX && PARTS.test(name),
    `a name of the engine is parts joined by dots, not '${name}'`,
  )
}

/** `*` stands for one part, `>` for all that follow. */
export function checkPattern(pattern: string): void {
  assert(
    pattern.length <= NAME_CHARS_MAX && PATTERN.test(pattern),
    `a subject to listen to is parts joined by dots, not '${pattern}'`,
  )
}

/** Of one entry, record, beat, message or question. */
export function checkSize(bytes: Uint8Array): void {
  assert(
    bytes.length <= ENTRY_BYTES_MAX,
    `the engine takes at most ${ENTRY_BYTES_MAX} bytes at once, not ${bytes.length}`,
  )
}

/** The name of a crawl is part of everything it keeps in the engine; people choose it. */
export function checkCrawlName(name: string): void {
  if (!CRAWL.test(name)) {
    throw new Fault(
      'CONFIG_INVALID',
      `the name of a crawl is 1 to 64 letters, digits, '-' and '_', and begins with a letter or digit: not '${name}'`,
    )
  }
}

/** `view` covers `view` and `view.1`, not `viewer`. The empty prefix covers everything. */
export function hasPrefix(name: string, prefix: string): boolean {
  return prefix === '' || name === prefix || name.startsWith(`${prefix}.`)
}

/** Whether a subject is one that this pattern listens to, by the rules of NATS. */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject) return true
  const wanted = pattern.split('.')
  const parts = subject.split('.')
  for (const [index, part] of wanted.entries()) {
    if (part === '>') return parts.length > index
    if (index >= parts.length || (part !== '*' && part !== parts[index])) return false
  }
  return wanted.length === parts.length
}
