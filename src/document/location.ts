import { isUtf8 } from 'node:buffer'
import type { Document } from './document.ts'

/**
 * Where a redirect points, as text. Header values are kept one character per byte; servers write
 * non-ASCII Locations in UTF-8, as browsers read them. Bytes that are no UTF-8 are escaped one by one.
 */
export function locationOf(document: Pick<Document, 'header'>): string | null {
  const raw = document.header('location')
  if (raw === null || !/[\x80-\xff]/.test(raw)) return raw
  const bytes = Buffer.from(raw, 'latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  return raw.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
}
