import { domainToUnicode } from 'node:url'
import { describe, expect, test } from 'vitest'
import { readMaterial } from '../../test/material.ts'
import type { HostKey } from './canonical-url.ts'
import { canonicalise } from './canonicalise.ts'
import { findRegistrableDomain, registrableDomain } from './registrable-domain.ts'
import { hostKeyOf } from './url-parts.ts'

test.each([
  ['www.example.com', 'example.com'],
  ['example.com', 'example.com'],
  ['www.bbc.co.uk', 'bbc.co.uk'],
  ['a.b.city.kawasaki.jp', 'city.kawasaki.jp'],
  ['x.lions.nakahara.kawasaki.jp', 'lions.nakahara.kawasaki.jp'],
  ['alice.github.io', 'alice.github.io'],
  ['www.alice.github.io', 'alice.github.io'],
  ['xn--bcher-kva.example.xn--p1ai', 'example.xn--p1ai'],
  ['a.b.no-such-suffix', 'b.no-such-suffix'],
])('%s belongs to %s', (host, domain) => {
  expect(registrableDomain(host as HostKey)).toBe(domain)
})

test.each(['localhost', 'com', 'co.uk', 'github.io', '127.0.0.1', '[::1]', 'www..example..com', '.kawasaki.jp'])(
  '%s is its own domain: there is nothing to register',
  (host) => {
    expect(registrableDomain(host as HostKey)).toBe(host)
  },
)

test('answers are the same after the cache started anew', () => {
  for (let i = 0; i < 10_000; i++) {
    expect(registrableDomain(`h.d${i}.co.uk` as HostKey)).toBe(`d${i}.co.uk`)
  }
  expect(registrableDomain('h.d0.co.uk' as HostKey)).toBe('d0.co.uk')
})

interface DomainVector {
  readonly function: string
  readonly args: readonly (string | boolean | null | number)[]
  readonly expected: string | boolean | null
  readonly rule: string
}

/** The host as it would reach us, in ASCII, or null where it could not be a URL's. */
function hostOf(text: string): HostKey | null {
  const url = canonicalise(text.includes('://') ? text : `http://${text}/`)
  return typeof url === 'string' ? hostKeyOf(url) : null
}

const material = readMaterial<{ vectors: DomainVector[] }>('url', 'crawler-commons-domains.json')

describe.skipIf(material === null)('crawler-commons, domains (material not present: skipped)', () => {
  test('every assigned and paid-level domain agrees or differs for a reason', () => {
    const wrong: string[] = []
    let count = 0
    for (const vector of material!.vectors) {
      const isPaidLevel = vector.function.startsWith('PaidLevelDomain')
      if (!isPaidLevel && vector.function !== 'EffectiveTldFinder.getAssignedDomain') continue
      const text = vector.args.length === 7 ? `http://[${vector.args[2]}]/` : String(vector.args[0])
      const isStrict = vector.args[1] === true
      const withPrivate = !isPaidLevel && vector.args[2] !== true
      const host = hostOf(text)
      count++
      // A host that is no host has no domain; a strict answer has none for a suffix, where we give the host itself.
      const domain = host === null ? null : findRegistrableDomain(host, withPrivate)
      const expected = vector.expected === null ? null : hostOf(String(vector.expected))
      const agrees = domain === expected || (isStrict && expected === null && domain === host)
      if (!agrees && !LISTED.has(text)) wrong.push(`${text}: ${domain}, not ${String(vector.expected)}`)
    }
    expect(wrong).toEqual([])
    expect(count).toBe(79)
  })

  test('every effective top-level domain agrees or differs for a reason', () => {
    const wrong: string[] = []
    for (const vector of material!.vectors) {
      if (!vector.function.endsWith('getEffectiveTLD.getDomain')) continue
      const host = hostOf(String(vector.args[0]))!
      const domain = findRegistrableDomain(host, true)
      // What is left of the registrable domain after its first label; of a suffix itself, the suffix.
      const suffix =
        domain === host && host === hostOf(String(vector.expected)) ? host : domain.slice(domain.indexOf('.') + 1)
      const expected = hostOf(String(vector.expected))
      if (suffix !== expected && !LISTED.has(String(vector.args[0]))) {
        wrong.push(`${String(vector.args[0])}: ${suffix}, not ${String(vector.expected)} (${domainToUnicode(suffix)})`)
      }
    }
    expect(wrong).toEqual([])
  })
})

// Hosts on which we differ from crawler-commons, with the reason.
const LISTED = new Map([
  ['\ufffd.example.com', 'the replacement character is in no host name: such a URL is refused before'],
  [
    'www.0123456789-abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz.com',
    'a label of 64 characters is no name to the DNS, which will say so; the URL standard accepts it',
  ],
  [
    'www.123456789-abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz.com',
    'stands twice in the vectors, once as valid and once as not',
  ],
  ['www.city.kawasaki.jp', 'an exception rule: the suffix is what remains without its first label'],
])
