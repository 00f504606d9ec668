// Whether a body came compressed, so that an archive need not try again. Deflate makes such bodies no smaller and takes 230 µs of
// CPU per 14 kB to find out; most pages of the web come gzipped or brotlied, and most other bytes are pictures (decision 0020).

import type { Document } from '../document/index.ts'

/** Formats that are compressed inside. A label may lie: then the record is larger than it need be, and right all the same. */
const PACKED_TYPES = new Set([
  'application/epub+zip',
  'application/font-woff',
  'application/font-woff2',
  'application/gzip',
  'application/java-archive',
  'application/pdf',
  'application/vnd.android.package-archive',
  'application/vnd.rar',
  'application/x-7z-compressed',
  'application/x-bzip2',
  'application/x-gzip',
  'application/x-rar-compressed',
  'application/x-xz',
  'application/zip',
  'application/zstd',
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/opus',
  'audio/webm',
  'font/woff',
  'font/woff2',
  'image/avif',
  'image/gif',
  'image/heic',
  'image/jpeg',
  'image/jxl',
  'image/png',
  'image/webp',
])

/** Office documents are zip files, whatever follows: `.wordprocessingml.document`, `.text` … */
const PACKED_FAMILIES = [
  'application/vnd.openxmlformats-officedocument.',
  'application/vnd.oasis.opendocument.',
  'video/',
]

export function isPacked({ decoding, mediaType }: Document): boolean {
  if (decoding === 'decoded') return true
  if (mediaType === null || mediaType === 'text/html') return false
  return PACKED_TYPES.has(mediaType) || PACKED_FAMILIES.some((family) => mediaType.startsWith(family))
}
