import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { decodePage, encodePage, PAGE_HOSTS_MAX } from './host-queue.ts'

const host = fc.stringMatching(/^[!-.0-9;=@-Z_-~]{1,253}$/).map((name) => name.toLowerCase() as HostKey)

test('a page has the names that were put into it, in their order', () => {
  fc.assert(
    fc.property(fc.array(host, { minLength: 1, maxLength: PAGE_HOSTS_MAX, size: 'max' }), (hosts) => {
      expect(decodePage(encodePage(hosts))).toEqual(hosts)
    }),
  )
})

test('a full page of names takes about half of their length', () => {
  const hosts = Array.from({ length: PAGE_HOSTS_MAX }, (_, i) => `www.site-${(i * 7919) % 100_003}.example` as HostKey)
  expect(encodePage(hosts).length).toBeLessThan(hosts.join('\n').length * 0.6)
})

test('names of any length are read as they were written, however well they could be packed', () => {
  for (const length of [253, 511, 512, 513, 2_018, 65_536]) {
    const hosts = Array.from({ length: PAGE_HOSTS_MAX }, (_, i) => `${'a'.repeat(length - 4)}${1_000 + i}` as HostKey)
    expect(decodePage(encodePage(hosts))).toEqual(hosts)
  }
})

test('a page of before names were packed is read, whatever its first name begins with', () => {
  const hosts = ['(a.example', 'b.example'] as HostKey[]
  expect(decodePage(Buffer.from(hosts.join('\n')))).toEqual(hosts)
})

test('what is packed and damaged is no page', () => {
  const packed = encodePage(Array.from({ length: PAGE_HOSTS_MAX }, (_, i) => `site-${i}.example` as HostKey))
  expect(decodePage(packed.subarray(0, -3))).toBeNull()
})
