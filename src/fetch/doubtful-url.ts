// Whether a URL looks like something that may not be wanted, by the ending of its path: then a HEAD is cheaper than the
// beginning of a film. A guess, which costs or spares a request and decides nothing: what is wanted the answer's head says.

import type { TypeFilter } from './type-filter.ts'

/** What servers mostly say of these endings. */
const TYPES: Readonly<Record<string, string>> = {
  '7z': 'application/x-7z-compressed',
  aac: 'audio/aac',
  apk: 'application/vnd.android.package-archive',
  avi: 'video/x-msvideo',
  avif: 'image/avif',
  bin: 'application/octet-stream',
  bmp: 'image/bmp',
  bz2: 'application/x-bzip2',
  css: 'text/css',
  csv: 'text/csv',
  deb: 'application/vnd.debian.binary-package',
  dmg: 'application/x-apple-diskimage',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  eot: 'application/vnd.ms-fontobject',
  epub: 'application/epub+zip',
  exe: 'application/vnd.microsoft.portable-executable',
  flac: 'audio/flac',
  flv: 'video/x-flv',
  gif: 'image/gif',
  gz: 'application/gzip',
  ico: 'image/vnd.microsoft.icon',
  iso: 'application/octet-stream',
  jar: 'application/java-archive',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  m4a: 'audio/mp4',
  m4v: 'video/x-m4v',
  mid: 'audio/midi',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  msi: 'application/x-msi',
  odt: 'application/vnd.oasis.opendocument.text',
  ogg: 'audio/ogg',
  ogv: 'video/ogg',
  otf: 'font/otf',
  pdf: 'application/pdf',
  png: 'image/png',
  ppt: 'application/vnd.ms-powerpoint',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  ps: 'application/postscript',
  rar: 'application/vnd.rar',
  rpm: 'application/x-rpm',
  svg: 'image/svg+xml',
  tar: 'application/x-tar',
  tgz: 'application/gzip',
  tif: 'image/tiff',
  tiff: 'image/tiff',
  ttf: 'font/ttf',
  wasm: 'application/wasm',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  wmv: 'video/x-ms-wmv',
  woff: 'font/woff',
  woff2: 'font/woff2',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xz: 'application/x-xz',
  zip: 'application/zip',
  zst: 'application/zstd',
}

/** Endings of what may be larger than anybody takes, whatever its type. */
const LARGE = new Set(
  '7z apk avi bin bz2 deb dmg exe flv gz iso jar m4v mkv mov mp4 mpeg mpg msi ogv rar rpm tar tgz webm wmv xz zip zst'.split(
    ' ',
  ),
)
const ENDING_LENGTH_MAX = 5

/** An ending that is not known, or none, is not doubtful: it is mostly a page. */
export function isDoubtful(url: string, filter: TypeFilter): boolean {
  const pathAt = url.indexOf('/', 8)
  const queryAt = url.indexOf('?', pathAt)
  const end = queryAt === -1 ? url.length : queryAt
  const dot = url.lastIndexOf('.', end - 1)
  if (dot <= pathAt || end - dot - 1 > ENDING_LENGTH_MAX) return false
  const ending = url.slice(dot + 1, end).toLowerCase()
  const type = TYPES[ending]
  return type !== undefined && (LARGE.has(ending) || !filter.wants(type))
}
