// Text from the web on its way to the screen. It only ever becomes a text node; what could still deceive there (direction marks, control
// characters) is made visible, and what is endless is cut.

import { printable } from '../../src/report/printable.ts'

const SHOWN_MAX = 400

export function shown(text: string, most = SHOWN_MAX): string {
  // Cut before it is cleaned: a title may have megabytes.
  const cut = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text
  return printable(cut)
}

const LINES_MAX = 500

/** A record as it is, one value a line. */
export function shownRecord(record: unknown): string {
  const lines = (JSON.stringify(record, null, 2) ?? '').split('\n')
  return [
    ...lines.slice(0, LINES_MAX).map((line) => shown(line, 1_000)),
    ...(lines.length > LINES_MAX ? ['…'] : []),
  ].join('\n')
}

/** Where a link may lead: to the web, and nowhere that runs something. */
export function webHref(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { protocol, href } = new URL(url)
  return protocol === 'http:' || protocol === 'https:' ? href : null
}
