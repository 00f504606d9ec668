// The items of a Gopher menu as links (RFC 1436, RFC 4266).
//
//   1Documents<TAB>/docs<TAB>gopher.example<TAB>70       type, what to show, selector, host, port
//   hOur page<TAB>URL:https://example.org/<TAB>…         a way to the web
//   iwelcome<TAB>fake<TAB>(NULL)<TAB>0                   only to be read
//   .                                                    the end
//
// Not followed: what is to be read (i), errors (3), searches (7), which want words of us, and terminals and phone books (8, T, 2).

import type { ParseOptions } from './options.ts'
import { PageBuilder } from './page-builder.ts'
import type { ParsedPage } from './parsed-page.ts'
import { asBuffer } from './text-decoding.ts'
import { linesOf } from './text-lines.ts'

const FOLLOWED = new Set('014569ghIsdpPMv:;<'.split(''))
const LINE_LENGTH_MAX = 4_096

export function parseGopherMenu(bytes: Uint8Array, options: ParseOptions): ParsedPage {
  const page = new PageBuilder(options)
  const text = asBuffer(bytes).toString('latin1')
  for (const line of linesOf(text)) {
    if (line === '.') break
    const href = line.length > LINE_LENGTH_MAX ? null : hrefOf(line)
    if (href !== null) page.link(href, 'a')
  }
  return page.build('utf-8')
}

function hrefOf(line: string): string | null {
  const type = line[0] ?? ''
  if (!FOLLOWED.has(type)) return null
  const [, selector, host = '', port = '70'] = line.split('\t')
  if (selector === undefined) return null
  if (type === 'h' && /^\/?URL:/i.test(selector)) return selector.slice(selector.indexOf(':') + 1)
  if (host.trim() === '' || !/^\s*\d{1,5}\s*$/.test(port)) return null
  return `gopher://${host.trim()}:${port.trim()}/${type}${escaped(selector)}`
}

/** Bytes as they are asked for. What stands for itself in a path stays readable. */
function escaped(selector: string): string {
  return selector.replaceAll(
    /[^0-9A-Za-z._~/!$&'()*+,;=:@-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
