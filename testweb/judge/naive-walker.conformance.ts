// The plainest crawler there is, for the tests of the truth: node:http, parse5, and no mercy. It shares
// nothing with the generator of the web but the encoder of older charsets, which the platform lacks.

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { gunzipSync } from 'node:zlib'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { type Charset, encodeQueryWord } from '../content/charset.ts'

type Element = DefaultTreeAdapterTypes.Element

export interface Fetched {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface WalkerOptions {
  readonly isWanted: (url: string) => boolean
  /** Null when the host may not be asked. */
  readonly isAllowed: (url: string) => boolean
  readonly obeysNofollow: boolean
  readonly authority: string | null
  readonly lookUp: (host: string) => string
}

/** One GET. A lost connection is null; a short body is what came of it. */
export function fetchOnce(url: string, options: Pick<WalkerOptions, 'authority' | 'lookUp'>): Promise<Fetched | null> {
  const { hostname, host, port, pathname, search, protocol } = new URL(url)
  return new Promise((resolve) => {
    const send = protocol === 'https:' ? httpsRequest : httpRequest
    const request = send({
      host: options.lookUp(hostname),
      port,
      path: pathname + search,
      headers: { host },
      ...(protocol === 'https:'
        ? { ca: options.authority ?? '', servername: hostname.startsWith('127.') ? '' : hostname }
        : {}),
    })
    request.on('error', () => resolve(null))
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', () => undefined)
      response.on('close', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string | undefined>,
          body: Buffer.concat(parts),
        })
      })
    })
    request.end()
  })
}

/** Walks from the seeds and returns the status of every URL it got an answer for; 0 for a lost connection. */
export async function walk(seeds: readonly string[], options: WalkerOptions): Promise<Map<string, number>> {
  const statuses = new Map<string, number>()
  const waiting = new Set(seeds)
  for (const url of waiting) {
    if (!options.isAllowed(url)) continue
    let fetched = await fetchOnce(url, options)
    while (fetched !== null && (fetched.status === 429 || fetched.status === 503))
      fetched = await fetchOnce(url, options)
    statuses.set(url, fetched?.status ?? 0)
    if (fetched === null) continue
    for (const link of linksOf(url, fetched, options.obeysNofollow)) if (options.isWanted(link)) waiting.add(link)
  }
  return statuses
}

function linksOf(url: string, { status, headers, body }: Fetched, obeysNofollow: boolean): string[] {
  if (status >= 300 && status < 400)
    return headers['location'] === undefined ? [] : resolveAll([headers['location']], url, 'utf-8')
  if (status !== 200) return []
  if (obeysNofollow && /(^|, )nofollow/.test(headers['x-robots-tag'] ?? '')) return []
  const type = headers['content-type']
  if (type === undefined || type.startsWith('text/html'))
    return body.length === 0 ? [] : htmlLinks(url, type ?? '', body, obeysNofollow)
  const text = type === 'application/gzip' ? gunzipSync(body).toString() : body.toString()
  if (type === 'text/css') {
    const rules = text.replaceAll(/\/\*.*?\*\//g, '')
    return resolveAll(
      [...rules.matchAll(/url\(\s*"?([^")\s]+)"?\s*\)|@import "([^"]+)"/g)].map((each) => each[1] ?? each[2] ?? ''),
      url,
      'utf-8',
    )
  }
  if (!type.includes('xml') && type !== 'application/gzip') return []
  const found = [...text.matchAll(/<loc>(.*?)<\/loc>|<link>(.*?)<\/link>|<link href="(.*?)"\/>/g)]
  return resolveAll(
    found.map((each) => (each[1] ?? each[2] ?? each[3] ?? '').replaceAll('&amp;', '&')),
    url,
    'utf-8',
  )
}

function htmlLinks(url: string, type: string, body: Buffer, obeysNofollow: boolean): string[] {
  const charset = charsetOf(type, body)
  const document = parse(new TextDecoder(charset).decode(body))
  const hrefs: string[] = []
  let base = url
  let isBased = false
  let isNofollow = false
  const visit = (node: DefaultTreeAdapterTypes.Node): void => {
    if ('tagName' in node) {
      const get = (name: string): string | undefined => node.attrs.find((attr) => attr.name === name)?.value
      if (node.tagName === 'base' && !isBased) {
        isBased = true
        base = new URL(get('href') ?? '', url).href
      }
      if (node.tagName === 'meta' && get('name')?.toLowerCase() === 'robots' && /nofollow/i.test(get('content') ?? ''))
        isNofollow = true
      if (!(obeysNofollow && /\bnofollow\b/.test(get('rel') ?? ''))) hrefs.push(...hrefsOf(node, get))
    }
    if ('childNodes' in node) for (const child of node.childNodes) visit(child)
  }
  visit(document)
  return obeysNofollow && isNofollow ? [] : resolveAll(hrefs, base, charset)
}

function hrefsOf(element: Element, get: (name: string) => string | undefined): string[] {
  switch (element.tagName) {
    case 'a':
    case 'area':
    case 'link':
      return found(get('href'))
    case 'img':
      return [...found(get('src')), ...found(get('srcset')?.trim().split(/\s+/, 1)[0])]
    case 'frame':
    case 'iframe':
    case 'script':
    case 'video':
      return found(get('src'))
    case 'object':
      return found(get('data'))
    case 'form':
      return found(get('action'))
    case 'meta':
      return get('http-equiv') === 'refresh' ? found(/url=(.*)$/.exec(get('content') ?? '')?.[1]) : []
    default:
      return []
  }
}

function found(value: string | undefined): string[] {
  return value === undefined ? [] : [value]
}

function charsetOf(type: string, body: Buffer): Charset {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le'
  const declared =
    /charset="?([\w-]+)/i.exec(type) ?? /<meta[^>]*charset="?([\w-]+)/i.exec(body.toString('latin1', 0, 1_024))
  return (declared?.[1]?.toLowerCase() ?? 'utf-8') as Charset
}

function resolveAll(hrefs: readonly string[], base: string, charset: Charset): string[] {
  const urls: string[] = []
  for (const href of hrefs) {
    const parts = /^([^?]*\?)([^#]*[\u0080-\u{10ffff}].*)$/u.exec(href)
    const written = parts === null ? href : `${parts[1]}${encodeQueryWord(parts[2] ?? '', charset)}`
    const url = URL.parse(written, base)
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) continue
    url.hash = ''
    urls.push(url.href.endsWith('#') ? url.href.slice(0, -1) : url.href)
  }
  return urls
}
