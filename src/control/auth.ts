// Who may ask, judged by the head of a request alone.
//
//   Host            the address the connection came in on, or localhost: a page whose name was pointed at us (DNS rebinding) says its own
//   Origin          ours where there is one: other pages may send requests, and must not be heard (CSRF)
//   Authorization   Bearer <token>, for everything but the dashboard's files, which say nothing
//   Content-Type    application/json for all that changes something: no form can send that
//
// On a unix socket nothing of this is asked: whoever may open it may steer, and no browser can.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { RequestRefusal } from './refusals.ts'

const TOKEN_BYTES = 24

/** 192 bits. */
export function makeToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

export interface RequestHead {
  readonly method: string
  readonly path: string
  /** By the router, which reads paths in more ways than one: it leads to the dashboard's files, and to nothing of a crawl. */
  readonly isFile: boolean
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly fetchSite: string | undefined
  readonly authorization: string | undefined
  readonly contentType: string | undefined
  /** The address of ours that the connection came in on. */
  readonly localAddress: string | undefined
}

export interface AuthRules {
  readonly token: string
  /** What was said to listen on: an address, or a name. */
  readonly listensOn: string
}

export function judgeRequest(head: RequestHead, { token, listensOn }: AuthRules): RequestRefusal | null {
  const name = hostNameOf(head.host)
  if (name === null || !isOurName(name, head.localAddress, listensOn)) return 'WRONG_HOST'
  const isForeign = head.origin !== undefined && head.origin.toLowerCase() !== `http://${head.host?.toLowerCase()}`
  if (isForeign) return 'WRONG_ORIGIN'
  if (head.isFile && !namesApi(head.path)) return null
  // Of a page that another site shows or opens: the browser says so, and no page can forge it.
  if (head.fetchSite === 'cross-site' || head.fetchSite === 'same-site') return 'WRONG_ORIGIN'
  const given = /^Bearer +([\w-]+)$/i.exec(head.authorization ?? '')?.[1]
  if (given === undefined) return 'TOKEN_MISSING'
  return isSame(given, token) ? null : 'TOKEN_WRONG'
}

/** State is only ever changed by what no form and no plain link can send. */
export function judgeContentType({
  method,
  contentType,
}: Pick<RequestHead, 'method' | 'contentType'>): 'NOT_JSON' | null {
  if (method === 'GET' || method === 'HEAD') return null
  return /^application\/json *(?:;|$)/i.test(contentType ?? '') ? null : 'NOT_JSON'
}

/** Nearly a path of the API: whoever asks for that is told of the token first. */
function namesApi(path: string): boolean {
  return /^\/+(?:api|metrics)(?:$|[/?])/i.test(path)
}

/** `[::1]:8080` → `::1`; null for what is no name with an optional port. */
function hostNameOf(host: string | undefined): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?$/i.exec(host ?? '')
  return (match?.[1] ?? match?.[2] ?? null)?.toLowerCase() ?? null
}

/**
 * Ports are not compared: one that is forwarded here may have any number, and a page that lies in DNS lies about names only. For the
 * same reason an address is as good as the next one, if the connection came in on it.
 */
function isOurName(name: string, localAddress: string | undefined, listensOn: string): boolean {
  if (name === 'localhost' || name === listensOn.toLowerCase()) return true
  // IPv4 on a socket of both kinds.
  return isIP(name) !== 0 && name === localAddress?.toLowerCase().replace(/^::ffff:/, '')
}

/** In the same time whatever is given: digests are as long as each other. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
