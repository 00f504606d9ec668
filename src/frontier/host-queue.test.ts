import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { decodePage, encodePage, HostQueue, PAGE_HOSTS_MAX } from './host-queue.ts'

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

test('pages are taken in the order they came, those that were put back first, whatever was done', () => {
  const band = fc.nat(2)
  const step = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), band }),
    fc.record({ kind: fc.constant('putBack' as const), bands: fc.array(band, { maxLength: 4 }) }),
    fc.record({ kind: fc.constant('shift' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new HostQueue(3)
      const model: number[][] = [[], [], []]
      let number = 0
      const pageOf = (band: number) => ({ page: ++number, band, wasAtHand: false })
      for (const one of steps) {
        if (one.kind === 'push') {
          const page = pageOf(one.band)
          queue.push(page)
          model[one.band]!.push(page.page)
        } else if (one.kind === 'putBack') {
          const pages = one.bands.map(pageOf)
          queue.putBack(pages)
          for (const { page, band } of pages.toReversed()) model[band]!.unshift(page)
        } else expect(queue.shift()?.page).toBe(model.find((pages) => pages.length > 0)?.shift())
        expect(queue.pages().map(({ page }) => page)).toEqual(model.flat())
        expect(queue.size).toBe(model.flat().length)
        for (const page of model.flat()) expect(queue.get(page)?.page).toBe(page)
      }
    }),
  )
})
