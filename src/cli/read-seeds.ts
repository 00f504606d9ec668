// Seeds from arguments, files and standard input: one URL a line, '#' begins a comment, blank lines
// are nothing. Every bad line is reported by its place.

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Problem } from '../config/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'
import { REFUSALS } from '../base/index.ts'
import { quote, unreadable } from './config-flags.ts'

export interface Seeds {
  readonly urls: CanonicalUrl[]
  readonly problems: Problem[]
}

/** `files` may hold '-' for standard input. A seed given twice counts once. */
export async function readSeeds(args: readonly string[], files: readonly string[], stdin: Readable): Promise<Seeds> {
  const urls = new Set<CanonicalUrl>()
  const problems: Problem[] = []
  const take = (text: string, where: string): void => {
    const url = canonicalise(text)
    if (typeof url === 'string') urls.add(url)
    else problems.push({ where, what: `${REFUSALS[url.refused]}${suggestion(text)}` })
  }
  for (const text of args) take(text, `seed ${quote(text)}`)
  for (const file of files) {
    const name = file === '-' ? 'standard input' : file
    const source = file === '-' ? stdin : createReadStream(file)
    let number = 0
    try {
      for await (const line of createInterface({ input: source, crlfDelay: Infinity })) {
        number++
        const text = line
          .replace(/^\uFEFF/, '')
          .replace(/(^|\s)#.*$/, '')
          .trim()
        if (text !== '') take(text, `${name}:${number}: ${quote(text)}`)
      }
    } catch (cause) {
      problems.push({ where: `--seeds ${file}`, what: unreadable(cause) })
    }
  }
  return { urls: [...urls], problems }
}

/** `example.org/x` was most likely meant as a web page. */
export function suggestion(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return ''
  const guess = canonicalise(`https://${text}`)
  const looksLikeHost = /^(localhost|\[?[0-9a-f:.]+\]?|[^/\s]+\.[^/\s]+)(:\d+)?(\/|$)/i.test(text)
  return typeof guess === 'string' && looksLikeHost ? `; did you mean ${guess}?` : ''
}
