// What was learnt, from run to run: lines of JSON, replaced whole, under a digest. It is written at the end of a run and
// every few minutes; what a crash loses of it is learnt again, at the cost of requests. A file that cannot be read is
// put aside and said so, and everything is learnt anew.

import { createHash } from 'node:crypto'
import { readFile, rename } from 'node:fs/promises'
import { writeAtomically } from '../disk/index.ts'
import type { SavedCalendar } from './calendars.ts'
import type { SavedDomain } from './domains.ts'
import type { SavedDirectory } from './echoes.ts'
import type { SavedPath } from './facets.ts'
import type { SavedPattern } from './floods.ts'
import type { SavedHost } from './host-lessons.ts'
import type { SavedRest } from './session-ids.ts'

export type SavedLesson =
  | readonly ['host', SavedHost]
  | readonly ['domain', SavedDomain]
  | readonly ['calendar', SavedCalendar]
  | readonly ['rest', SavedRest]
  | readonly ['path', SavedPath]
  | readonly ['pattern', SavedPattern]
  | readonly ['directory', SavedDirectory]

const FORMAT = 2

export class TrapFile {
  readonly #path: string
  #saving: Promise<void> = Promise.resolve()
  warning: string | null = null
  /** Times that it could not be written; the crawl goes on without. */
  failures = 0

  constructor(path: string) {
    this.#path = path
  }

  async load(): Promise<SavedLesson[]> {
    let text: string
    try {
      text = await readFile(this.#path, 'utf8')
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
        this.warning = `${this.#path} cannot be read: ${(cause as Error).message}`
      return []
    }
    const lessons = lessonsIn(text)
    if (lessons !== null) return lessons
    const aside = `${this.#path}.damaged`
    await rename(this.#path, aside).catch(() => {})
    this.warning = `what was learnt about traps is damaged and is learnt anew; the old file is ${aside}`
    return []
  }

  /** One after the other; the last one wins. */
  save(lessons: Iterable<SavedLesson>): Promise<void> {
    let body = ''
    for (const lesson of lessons) body += `${JSON.stringify(lesson)}\n`
    const text = `${JSON.stringify({ format: FORMAT, sha256: sha256(body) })}\n${body}`
    this.#saving = this.#saving
      .then(() => writeAtomically(this.#path, text))
      .catch(() => {
        this.failures++
      })
    return this.#saving
  }
}

/** Null where the text is not what was written. */
function lessonsIn(text: string): SavedLesson[] | null {
  const end = text.indexOf('\n') + 1
  try {
    const head = JSON.parse(text.slice(0, end)) as { format?: unknown; sha256?: unknown } | null
    const body = text.slice(end)
    if (head?.format !== FORMAT || head.sha256 !== sha256(body)) return null
    return body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SavedLesson)
  } catch (cause) {
    if (cause instanceof SyntaxError) return null
    throw cause
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
