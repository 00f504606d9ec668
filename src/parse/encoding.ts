// Which encoding a page is in: byte order mark, then the Content-Type header, then what the page declares,
// then a look at the bytes. The first that answers wins, unless the bytes disprove it.

import { guessEncoding, isDisproved } from './encoding-evidence.ts'
import { PRESCAN_BYTES, prescanEncoding, xmlDeclarationEncoding } from './meta-prescan.ts'
import { asBuffer, encodingOf } from './text-decoding.ts'

export interface EncodingHints {
  /** The charset parameter of Content-Type, any case; null when absent. */
  readonly headerCharset: string | null
  /** Bare media type; XML types go by their declaration and default to UTF-8. */
  readonly mediaType?: string | null
}

export interface Encoding {
  /** WHATWG name in lower case, or 'replacement' for those that must not be read. */
  readonly encoding: string
  /** Who said so. Only a guess gives way to a declaration found later in the page. */
  readonly source: 'bom' | 'header' | 'declaration' | 'guess'
}

export function sniffEncoding(bytes: Uint8Array, hints: EncodingHints): Encoding {
  const marked = bomEncoding(bytes)
  if (marked !== null) return { encoding: marked, source: 'bom' }
  const buffer = asBuffer(bytes)
  const header = hints.headerCharset === null ? null : encodingOf(hints.headerCharset)
  if (header !== null && !isDisproved(header, buffer)) return { encoding: header, source: 'header' }
  const head = buffer.toString('latin1', 0, Math.min(buffer.length, PRESCAN_BYTES))
  const isXml = isXmlType(hints.mediaType ?? null)
  const declared = isXml ? xmlDeclarationEncoding(head) : prescanEncoding(head)
  if (declared !== null && !isDisproved(declared, buffer)) return { encoding: declared, source: 'declaration' }
  return { encoding: isXml ? 'utf-8' : guessEncoding(buffer), source: 'guess' }
}

export function isXmlType(mediaType: string | null): boolean {
  return (
    mediaType !== null && (mediaType.endsWith('+xml') || mediaType === 'text/xml' || mediaType === 'application/xml')
  )
}

function bomEncoding(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return null
}
