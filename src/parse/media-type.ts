// The media type of a body by its first bytes, where the server named none or only text/plain.
//
// After the WHATWG MIME Sniffing standard, with one difference: text/plain that begins like a whole HTML or XML document is taken
// for one. A browser must not do so, lest it run scripts of strangers; we run none.

/** The standard's own number: what it calls the resource header. */
export const SNIFF_BYTES = 1445

/** Beginnings that no text has, as latin-1. `.` stands for any byte. */
const SIGNATURES: readonly (readonly [pattern: RegExp, mediaType: string])[] = [
  [/^%PDF-/, 'application/pdf'],
  [/^%!PS-Adobe-/, 'application/postscript'],
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^RIFF[^]{4}WEBPVP/, 'image/webp'],
  [/^RIFF[^]{4}WAVE/, 'audio/wave'],
  [/^RIFF[^]{4}AVI /, 'video/avi'],
  [/^BM[^]{12}/, 'image/bmp'],
  [/^\0\0[\x01\x02]\0/, 'image/x-icon'],
  [/^[^]{4}ftypavif/, 'image/avif'],
  [/^[^]{4}ftyp/, 'video/mp4'],
  [/^\x1aE\xdf\xa3/, 'video/webm'],
  [/^OggS\0/, 'application/ogg'],
  [/^ID3/, 'audio/mpeg'],
  [/^wOFF/, 'font/woff'],
  [/^wOF2/, 'font/woff2'],
  [/^(?:\0\x01\0\0|OTTO)/, 'font/ttf'],
  [/^\x1f\x8b\x08/, 'application/gzip'],
  [/^PK\x03\x04/, 'application/zip'],
  [/^Rar!\x1a\x07/, 'application/vnd.rar'],
  [/^7z\xbc\xaf\x27\x1c/, 'application/x-7z-compressed'],
]

/** A whole document announces itself. */
const DOCUMENT = /^[\t\n\f\r ]*(?:<!--[^]*?-->[\t\n\f\r ]*)*<(?:!doctype html|html)[\t\n\f\r >]/i
/** Enough for HTML when nothing was said. */
const FRAGMENT =
  /^[\t\n\f\r ]*<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[\t\n\f\r />]|!--)/i
const XML = /^[\t\n\f\r ]*<\?xml[\t\n\f\r ]/
const RSS = /^[\t\n\f\r ]*<rss[\t\n\f\r >]/i
const ATOM = /^[\t\n\f\r ]*<feed[\t\n\f\r >]/i
const BINARY = /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/

/** Bare media type of a body that begins with `bytes`. `declared` is what the server said: null or 'text/plain'. */
export function sniffMediaType(bytes: Uint8Array, declared: string | null = null): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, SNIFF_BYTES)).toString('latin1')
  for (const [pattern, mediaType] of SIGNATURES) if (pattern.test(head)) return mediaType
  const isUtf16 = /^(?:\xfe\xff|\xff\xfe)/.test(head)
  const text = head.replace(/^\xef\xbb\xbf/, '')
  if ((declared === null ? FRAGMENT : DOCUMENT).test(text)) return 'text/html'
  if (XML.test(text)) return 'text/xml'
  if (RSS.test(text)) return 'application/rss+xml'
  if (ATOM.test(text)) return 'application/atom+xml'
  return !isUtf16 && BINARY.test(text) ? 'application/octet-stream' : 'text/plain'
}
