// One target, many ways to write it. Each way resolves, by the WHATWG URL standard, to exactly the
// target: that is what makes the truth known.

import type { Random } from '../../src/base/index.ts'
import type { Host } from './host.ts'

/** What a reference is resolved against. */
export interface Place {
  readonly host: Host
  /** Path with query, of the page or of its <base>. */
  readonly path: string
}

/** 'plain' is what tidy sites write; 'varied' is what the standard allows. */
export type Hand = 'plain' | 'varied'

export function writeHref(from: Place, to: Place, hand: Hand, random: Random): string {
  return from.host === to.host ? writeInner(from, to, hand, random) : writeOuter(from, to, hand, random)
}

function writeInner(from: Place, to: Place, hand: Hand, random: Random): string {
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
      return relative(from.path, to.path)
    case 8:
      return dotted(relative(from.path, to.path))
    case 9:
      return climbing(from.path, to.path)
    case 10:
      return `/nowhere/..${to.path}`
    case 11:
      return `/.${to.path}#!/state`
    case 12:
      return `  ${to.path}\n`
    case 13:
      return withBackslashes(to.path)
    case 14:
      return `${to.path.slice(0, 2)}\n\t${to.path.slice(2)}`
    case 15:
      return `/%2e/${to.path.slice(1)}`
    default:
      return writeOuter(from, to, hand, random)
  }
}

function writeOuter(from: Place, to: Place, hand: Hand, random: Random): string {
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
      return `${scheme}:\\\\${authority}${withBackslashes(to.path)}`
    case 9:
      return to.path === '/' ? origin : `${origin}/a/b/../..${to.path}`
    default:
      return origin + to.path
  }
}

/** The shortest form: query only, file only, or from the root. */
function relative(from: string, to: string): string {
  const [fromPath, toPath] = [withoutQuery(from), withoutQuery(to)]
  if (fromPath === toPath && to.length > toPath.length) return to.slice(toPath.length)
  const folder = fromPath.slice(0, fromPath.lastIndexOf('/') + 1)
  if (!to.startsWith(folder) || to === folder) return to
  const rest = to.slice(folder.length)
  // '/p1' under folder '/' must not become '//…', and a rest that starts with '?' would keep the file name.
  return rest.startsWith('/') || rest.startsWith('?') ? to : rest
}

function dotted(reference: string): string {
  return /^[a-z0-9]/i.test(reference) ? `./${reference}` : reference
}

function climbing(from: string, to: string): string {
  const folders = withoutQuery(from).split('/').length - 2
  const rest = to.slice(1)
  if (folders > 0) return '../'.repeat(folders) + rest
  // At the root one may climb all one likes.
  return `../../${rest}`
}

function withBackslashes(path: string): string {
  const end = path.indexOf('?')
  const head = end < 0 ? path : path.slice(0, end)
  return head.replaceAll('/', '\\') + (end < 0 ? '' : path.slice(end))
}

/** The port in digits a parser must not compare as text; default ports are written out. */
function paddedPort(host: Host): string {
  const digits = host.authority.slice(host.name.length + 1)
  return digits === '' ? (host.scheme === 'https' ? '443' : '80') : `0${digits}`
}

function withoutQuery(path: string): string {
  const end = path.indexOf('?')
  return end < 0 ? path : path.slice(0, end)
}
