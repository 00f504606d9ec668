// One target, many ways to write it. Each way resolves, by the WHATWG URL standard, to exactly the
// target: that is what makes the truth known.

import type { Random } from '../../src/base/index.ts'
import type { Host } from './host.ts'

/** Where a reference leads. */
export interface Place {
  readonly host: Host
  /** Canonical path with query. */
  readonly path: string
}

/** What a reference is resolved against: a page, or its <base>. */
export interface Base extends Place {
  /** Without the query. */
  readonly plainPath: string
  /** Up to the last slash. */
  readonly folder: string
}

export function baseAt({ host, path }: Place): Base {
  const plainPath = withoutQuery(path)
  return { host, path, plainPath, folder: plainPath.slice(0, plainPath.lastIndexOf('/') + 1) }
}

const QUESTION_MARK = 63

/** 'plain' is what tidy sites write; 'varied' is what the standard allows. */
export type Hand = 'plain' | 'varied'

export function writeHref(from: Base, to: Place, hand: Hand, random: Random): string {
  return from.host === to.host ? writeInner(from, to, hand, random) : writeOuter(from, to, hand, random)
}

function writeInner(from: Base, to: Place, hand: Hand, random: Random): string {
  const roll = random.below(hand === 'plain' ? 8 : 20)
  switch (roll) {
    case 0:
      return to.host.origin + to.path
    case 1:
      return `${to.path}#part${random.below(9)}`
    case 2:
    case 3:
      return to.path
    case 4:
    case 5:
    case 6:
    case 7:
      return relative(from, to)
    case 8:
      return dotted(relative(from, to))
    case 9:
      return climbing(from, to)
    case 10:
      return `/nowhere/..${to.path}`
    case 11:
      return `/.${to.path}#!/state`
    case 12:
      return `  ${to.path}\n`
    case 13:
      return withBackslashes(to)
    case 14:
      return `${to.path.slice(0, 2)}\n\t${to.path.slice(2)}`
    case 15:
      return `/%2e/${to.path.slice(1)}`
    default:
      return writeOuter(from, to, hand, random)
  }
}

function writeOuter(from: Base, to: Place, hand: Hand, random: Random): string {
  const { scheme, name, authority, origin } = to.host
  const roll = random.below(hand === 'plain' ? 4 : 10)
  switch (roll) {
    case 0:
    case 4:
      return from.host.scheme === scheme ? `//${authority}${to.path}` : origin + to.path
    case 5:
      return `${scheme.toUpperCase()}://${name.toUpperCase()}${authority.slice(name.length)}${to.path}`
    case 6:
      return `${scheme}://${name}:${paddedPort(to.host)}${to.path}`
    case 7:
      return `${origin}${to.path}#`
    case 8:
      return `${scheme}:\\\\${authority}${withBackslashes(to)}`
    case 9:
      return to.path === '/' ? origin : `${origin}/a/b/../..${to.path}`
    default:
      return origin + to.path
  }
}

/** The shortest form: query only, file only, or from the root. */
function relative({ plainPath, folder }: Base, { path }: Place): string {
  if (path.charCodeAt(plainPath.length) === QUESTION_MARK && path.startsWith(plainPath))
    return path.slice(plainPath.length)
  if (!path.startsWith(folder) || path === folder) return path
  const rest = path.slice(folder.length)
  // '/p1' under folder '/' must not become '//…', and a rest that starts with '?' would keep the file name.
  return rest.startsWith('/') || rest.startsWith('?') ? path : rest
}

function dotted(reference: string): string {
  return /^[a-z0-9]/i.test(reference) ? `./${reference}` : reference
}

function climbing(from: Base, to: Place): string {
  const folders = from.plainPath.split('/').length - 2
  // At the root one may climb all one likes.
  return '../'.repeat(folders > 0 ? folders : 2) + to.path.slice(1)
}

function withBackslashes({ path }: Place): string {
  const plainPath = withoutQuery(path)
  return plainPath.replaceAll('/', '\\') + path.slice(plainPath.length)
}

function withoutQuery(path: string): string {
  const end = path.indexOf('?')
  return end < 0 ? path : path.slice(0, end)
}

/** The port in digits a parser must not compare as text; default ports are written out. */
function paddedPort(host: Host): string {
  const digits = host.authority.slice(host.name.length + 1)
  return digits === '' ? (host.scheme === 'https' ? '443' : '80') : `0${digits}`
}
