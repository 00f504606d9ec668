// AWS Signature Version 4, as S3 wants it: a request is put into one canonical text, whose digest is signed with a key made
// from the secret, the day, the region and the service. Pure; the secret never leaves this file but as a signature.
//
//   canonical request ─ sha256 ─▶ string to sign ─ HMAC with (secret → day → region → service) ─▶ Authorization

import { createHmac, hash } from 'node:crypto'

export interface Credentials {
  readonly accessKey: string
  readonly secretKey: string
  /** Of temporary credentials. */
  readonly sessionToken: string | null
}

export interface SignedRequest {
  readonly method: string
  /** With its port, where that is not the usual one. */
  readonly host: string
  /** Encoded as it is sent. S3 encodes it once, other services twice. */
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  /** Beside host, x-amz-date and x-amz-content-sha256; names in lower case. All are signed. */
  readonly headers: Readonly<Record<string, string>>
  /** Of the body: 64 hexadecimal digits. */
  readonly sha256: string
}

export interface Signing {
  readonly credentials: Credentials
  readonly region: string
  readonly service: string
  readonly wallMs: number
}

export const EMPTY_SHA256 = hash('sha256', '', 'hex')

/** The headers that make a request a signed one, to be added to its own. */
export function sign(request: SignedRequest, signing: Signing): Readonly<Record<string, string>> {
  const { credentials, region, service, wallMs } = signing
  const stamp = new Date(wallMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  const day = stamp.slice(0, 8)
  const own: Record<string, string> = { 'x-amz-content-sha256': request.sha256, 'x-amz-date': stamp }
  if (credentials.sessionToken !== null) own['x-amz-security-token'] = credentials.sessionToken
  const headers: [string, string][] = Object.entries({ ...request.headers, ...own, host: request.host })
    .map(([name, value]): [string, string] => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const signed = headers.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    signed,
    request.sha256,
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', stamp, scope, hash('sha256', canonical, 'hex')].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (parent, part) => createHmac('sha256', parent).update(part).digest(),
    `AWS4${credentials.secretKey}`,
  )
  const signature = createHmac('sha256', key).update(toSign).digest('hex')
  return {
    ...own,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKey}/${scope},SignedHeaders=${signed},Signature=${signature}`,
  }
}

/** Sorted by encoded name, as it is both signed and sent. */
export function queryText(query: SignedRequest['query']): string {
  return query
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
}

/** Everything but A–Z a–z 0–9 - . _ ~ */
export function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

export function encodePath(key: string): string {
  return key.split('/').map(encode).join('/')
}
