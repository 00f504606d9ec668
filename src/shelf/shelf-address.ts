// Where a shelf is, as people write it. Knows nothing of how it is reached, so that checking options loads none of that.

import { fileURLToPath } from 'node:url'

export type ShelfAddress =
  | { readonly kind: 'directory'; readonly path: string }
  /** `prefix` is '' or ends with a slash. */
  | { readonly kind: 's3'; readonly bucket: string; readonly prefix: string }

const BUCKET = /^[a-z0-9][a-z0-9._-]{1,62}$/i

/** Throws a sentence. */
export function readAddress(text: string): ShelfAddress {
  if (!URL.canParse(text)) throw new Error('is not a URL; write file:///path or s3://bucket/prefix')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new Error('must not hold keys: command lines and settings can be read by others; use environment variables')
  }
  if (url.search !== '' || url.hash !== '') throw new Error('must not have ? or #')
  if (url.protocol === 'file:') {
    if (url.host !== '') throw new Error('must name a path of this machine: file:///path, with three slashes')
    return { kind: 'directory', path: fileURLToPath(url) }
  }
  if (url.protocol !== 's3:')
    throw new Error(`'${url.protocol}//' is not understood; write file:///path or s3://bucket/prefix`)
  if (!BUCKET.test(url.hostname) || url.port !== '') throw new Error('has no name of a bucket: s3://bucket/prefix')
  const prefix = decodeURIComponent(url.pathname).replaceAll(/^\/+|\/+$/g, '')
  return { kind: 's3', bucket: url.hostname, prefix: prefix === '' ? '' : `${prefix}/` }
}

export function addressComplaint(text: string): string | null {
  if (text === '') return null
  try {
    readAddress(text)
    return null
  } catch (cause) {
    return (cause as Error).message
  }
}

export function endpointComplaint(text: string): string | null {
  if (text === '') return null
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) return 'is not a URL of http: or https:'
  const { username, password, pathname, search } = new URL(text)
  if (username !== '' || password !== '') return 'must not hold keys; use environment variables'
  return pathname === '/' && search === '' ? null : 'must have no path: the bucket is named by --archive-to'
}
