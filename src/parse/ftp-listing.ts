// The entries of a directory as links, from what FTP servers send: MLSD (RFC 3659), or LIST as Unix (`ls -l`) or DOS wrote it.
//
//   type=dir;modify=20260102030405; pub             facts, a blank, the name to the end of the line
//   drwxr-xr-x   2 ftp  ftp   4096 Jan  2 03:04 pub  nine columns; of a link `name -> target`
//   01-02-26  03:04AM       <DIR>          pub       date, time, size or <DIR>
//
// Names are bytes of an encoding nobody tells: each becomes the escape it is asked for with. Directories end with a slash; of a link only
// asking can tell what it leads to, except that one to where we are ('.', '..', '../..') leads in circles and is left out.

import type { ParseOptions } from './options.ts'
import { PageBuilder } from './page-builder.ts'
import type { ParsedPage } from './parsed-page.ts'
import { asBuffer } from './text-decoding.ts'
import { linesOf } from './text-lines.ts'

export interface ListingEntry {
  /** One character per byte. */
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link'
}

const FACTS = /^((?:[^;= ]+=[^;]*;)+) (.+)$/
/** Permissions, links, owner, perhaps group, size (or two numbers of a device), month, day, time or year. */
const UNIX =
  /^([-dlbcpsDP])[-a-zA-Z]{9}\S*\s+\d+\s+\S+(?:\s+\S+)?\s+\d+(?:,\s*\d+)?\s+(?:\S{3,9}\s+\d{1,2}|\d{1,2}\s+\S{3,9}|\d{4}-\d\d-\d\d)\s+(?:\d{1,2}:\d\d(?::\d\d)?|\d{4}) (.+)$/
const DOS = /^\d\d-\d\d-(?:\d\d|\d{4})\s+\d\d:\d\d(?:[AaPp][Mm])?\s+(<DIR>|[\d,]+)\s+(.+)$/
/** Longer lines are no entries; it also keeps patterns quick. */
const LINE_LENGTH_MAX = 4_096

export function parseFtpListing(bytes: Uint8Array, options: ParseOptions): ParsedPage {
  const page = new PageBuilder(options)
  for (const { name, kind } of listingEntries(asBuffer(bytes).toString('latin1'))) {
    // './' in front: a name may look like a scheme.
    page.link(`./${escaped(name)}${kind === 'directory' ? '/' : ''}`, 'a')
  }
  return page.build('utf-8')
}

/** The entries of a listing, one character per byte. Lines that make no sense are passed over. */
export function* listingEntries(text: string): Generator<ListingEntry> {
  for (const line of linesOf(text)) {
    if (line.length > LINE_LENGTH_MAX) continue
    const entry = entryOf(line)
    if (entry !== null && isName(entry.name)) yield entry
  }
}

function entryOf(line: string): ListingEntry | null {
  const facts = FACTS.exec(line)
  if (facts !== null) return factsEntry(facts[1] as string, facts[2] as string)
  const unix = UNIX.exec(line)
  if (unix !== null) return unixEntry(unix[1] as string, unix[2] as string)
  const dos = DOS.exec(line)
  return dos === null ? null : { name: dos[2] as string, kind: dos[1] === '<DIR>' ? 'directory' : 'file' }
}

function factsEntry(facts: string, name: string): ListingEntry | null {
  const type = /(?:^|;)type=([^;]*)/i.exec(facts)?.[1]?.toLowerCase() ?? 'file'
  if (type === 'file') return { name, kind: 'file' }
  if (type === 'dir') return { name, kind: 'directory' }
  const link = /^os\.unix=(?:slink|symlink)(?::(.*))?$/.exec(type)
  if (link === null) return null
  return isCircle(link[1] ?? '') ? null : { name, kind: 'link' }
}

function unixEntry(type: string, name: string): ListingEntry | null {
  if (type === 'd') return { name, kind: 'directory' }
  if (type === '-') return { name, kind: 'file' }
  // Devices, pipes and sockets hold nothing.
  if (type !== 'l') return null
  const arrow = name.indexOf(' -> ')
  if (arrow === -1) return { name, kind: 'link' }
  return isCircle(name.slice(arrow + 4)) ? null : { name: name.slice(0, arrow), kind: 'link' }
}

function isCircle(target: string): boolean {
  return /^\.{1,2}(?:\/+\.{1,2})*\/*$/.test(target)
}

function isName(name: string): boolean {
  return name !== '.' && name !== '..' && name !== '' && !name.includes('/') && !name.includes('\0')
}

/** Each byte that is no plain character as its escape. */
function escaped(name: string): string {
  return name.replaceAll(
    /[^0-9A-Za-z._~-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
