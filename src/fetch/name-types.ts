// The media type of a file by the ending of its name, where the protocol names none. Only endings that mean one thing;
// what is not here is told by its first bytes, later.

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'text/html': 'html htm shtml',
    'application/xhtml+xml': 'xhtml xht',
    'text/plain': 'txt text asc log readme',
    'text/css': 'css',
    'text/csv': 'csv',
    'text/markdown': 'md',
    'text/javascript': 'js mjs',
    'application/json': 'json',
    'application/xml': 'xml',
    'application/rss+xml': 'rss',
    'application/atom+xml': 'atom',
    'application/pdf': 'pdf',
    'application/postscript': 'ps eps',
    'application/epub+zip': 'epub',
    'application/zip': 'zip',
    'application/gzip': 'gz tgz',
    'application/x-bzip2': 'bz2',
    'application/x-xz': 'xz',
    'application/zstd': 'zst',
    'application/x-tar': 'tar',
    'application/x-7z-compressed': '7z',
    'application/vnd.debian.binary-package': 'deb',
    'application/x-rpm': 'rpm',
    'application/x-iso9660-image': 'iso',
    'application/msword': 'doc',
    'application/rtf': 'rtf',
    'image/png': 'png',
    'image/jpeg': 'jpg jpeg jpe',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'image/svg+xml': 'svg',
    'image/tiff': 'tif tiff',
    'image/x-icon': 'ico',
    'audio/mpeg': 'mp3',
    'audio/ogg': 'ogg oga opus',
    'audio/wav': 'wav',
    'audio/flac': 'flac',
    'video/mp4': 'mp4 m4v',
    'video/webm': 'webm',
    'video/mpeg': 'mpg mpeg',
    'font/woff': 'woff',
    'font/woff2': 'woff2',
  }).flatMap(([type, endings]) => endings.split(' ').map((ending) => [ending, type] as const)),
)

/** Bare media type, or null where the name does not say. `path` may be a path or a URL. */
export function mediaTypeOfName(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot === -1 ? null : (TYPES.get(name.slice(dot + 1).toLowerCase()) ?? null)
}
