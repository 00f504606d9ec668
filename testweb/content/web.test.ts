// A web is a value: the same question has the same answer, always and everywhere, and every link leads
// where it is said to lead by the rules of the URL standard.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WebOptions } from '../options.ts'
import { BASE_PATH } from './page-links.ts'
import { VARIANT_NAMES } from './variant.ts'
import { Web } from './web.ts'

const PORTS = { http: 8_000, https: 8_443 }
const make = (options: Partial<WebOptions> = {}, ports = PORTS): Web => new Web(options, ports)

const anyWeb = fc.record({
  seed: fc.string({ maxLength: 8 }),
  hosts: fc.integer({ min: 1, max: 9 }),
  pages: fc.integer({ min: 1, max: 60 }),
  naming: fc.constantFrom('addresses' as const, 'names' as const, 'mixed' as const),
  https: fc.boolean(),
  faults: fc.constantFrom('none' as const, 'mild' as const, 'all' as const),
  hostSizes: fc.constantFrom('equal' as const, 'skewed' as const),
  linksPerPage: fc.integer({ min: 0, max: 40 }),
  exhibits: fc.boolean(),
  traps: fc.boolean(),
})

/** Everything of a host that a crawl could ask for without following links. */
function someUrls(web: Web, hostIndex: number): string[] {
  const numbered = Array.from({ length: Math.min(20, web.hosts.at(hostIndex).pages) }, (_, page) =>
    web.url(hostIndex, page),
  )
  return [...numbered, ...VARIANT_NAMES.map((variant) => web.exhibit(variant, hostIndex))]
}

describe('purity', () => {
  test('a page asked for twice, from two webs of the same options, has the same bytes', () => {
    fc.assert(
      fc.property(anyWeb, (options) => {
        const [one, other] = [make(options), make(options)]
        for (const url of someUrls(one, 0)) {
          expect(one.answerUrl(url)!.status).toBe(other.answerUrl(url)!.status)
          expect(one.body(url)!.equals(other.body(url)!)).toBe(true)
          expect(one.body(url)!.equals(one.body(url)!)).toBe(true)
        }
      }),
      { numRuns: 30 },
    )
  })

  test('another process makes the same web', () => {
    const options = { seed: 'two processes', faults: 'all' as const }
    const script = `
      import { createHash } from 'node:crypto'
      import { Web } from ${JSON.stringify(new URL('web.ts', import.meta.url).href)}
      const web = new Web(${JSON.stringify(options)}, ${JSON.stringify(PORTS)})
      const hash = createHash('sha256')
      for (let page = 0; page < 50; page++) hash.update(web.body(web.url(3, page)))
      process.stdout.write(hash.digest('hex'))`
    const there = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
    const web = make(options)
    const hash = createHash('sha256')
    for (let page = 0; page < 50; page++) hash.update(web.body(web.url(3, page))!)
    expect(there).toBe(hash.digest('hex'))
  })

  test('another seed is another web', () => {
    const [one, other] = ['a', 'b'].map((seed) => String(make({ seed }).body('http://127.1.0.1:8000/')))
    expect(one).not.toBe(other)
  })

  test('the time changes changing pages, by their law, and no others', () => {
    const web = make({ changePeriodMs: 1_000 })
    const at = (variant: 'changing' | 'page', ms: number): string => String(web.body(web.exhibit(variant), ms))
    expect(at('page', 0)).toBe(at('page', 1e9))
    expect(at('changing', 0)).not.toBe(at('changing', 16_000))
    const url = web.exhibit('changing')
    expect(web.version(url, 0)).toBe(0)
    expect([1, 4, 16]).toContain(16 / web.version(url, 16_000))
    expect(web.answerUrl(url, 16_000)?.entity?.tag).not.toBe(web.answerUrl(url, 0)?.entity?.tag)
  })
})

describe('links', () => {
  test('every link resolves to the URL it is said to lead to', () => {
    fc.assert(
      fc.property(anyWeb, (options) => {
        const web = make(options)
        for (const url of someUrls(web, options.hosts - 1)) {
          const answer = web.answerUrl(url)!
          const isBased = String(web.body(url)).includes(`<base href="${BASE_PATH}">`)
          const base = isBased ? new URL(BASE_PATH, url).href : url
          for (const link of answer.links) {
            // The query of pages in older encodings is for charset.test.ts; new URL only knows UTF-8.
            if (link.url === null || link.href.includes('?q=')) continue
            const resolved = new URL(link.href, base)
            resolved.hash = ''
            expect(resolved.href, `${link.href} on ${url}`).toBe(link.url)
          }
        }
      }),
      { numRuns: 40 },
    )
  })

  test('default ports are never part of a canonical URL, though some links write them', () => {
    const web = make({ faults: 'mild', https: true, pages: 400, hosts: 4 }, { http: 80, https: 443 })
    const links = Array.from({ length: 400 }, (_, page) => web.answerUrl(web.url(0, page))?.links ?? []).flat()
    expect(links.some((link) => link.href.includes(':80/') || link.href.includes(':443/'))).toBe(true)
    for (const link of links) {
      if (link.url !== null) expect(link.url).not.toMatch(/:(80|443)\//)
      if (link.url !== null && !link.href.includes('?q=')) {
        expect(new URL(link.url).href).toBe(link.url)
      }
    }
  })

  test('every page of a plain web can be reached from its root by children alone', () => {
    const web = make({ pages: 300, branching: 3, linksPerPage: 3, hosts: 1 })
    const reached = new Set(['http://127.1.0.1:8000/'])
    for (const url of reached)
      for (const link of web.answerUrl(url)!.links) if (link.url !== null) reached.add(link.url)
    expect(reached.size).toBe(300)
  })

  test('links lead to pages, not into the void, on a plain web', () => {
    const web = make({ hosts: 5, pages: 50 })
    for (let page = 0; page < 50; page++) {
      for (const link of web.answerUrl(web.url(2, page))!.links) expect(web.answerUrl(link.url!)?.status).toBe(200)
    }
  })

  test('the share of links to other hosts is what was asked for', () => {
    const web = make({ hosts: 50, pages: 100, crossHostShare: 0.4, branching: 1 })
    const links = Array.from({ length: 100 }, (_, page) => web.answerUrl(web.url(0, page))!.links).flat()
    const cross = links.filter((link) => !link.url!.startsWith('http://127.1.0.1:'))
    expect(cross.length / links.length).toBeGreaterThan(0.35)
    expect(cross.length / links.length).toBeLessThan(0.45)
  })
})

describe('pages', () => {
  test('their mean size is the one asked for', () => {
    const web = make({ pages: 2_000, hosts: 1 })
    let total = 0
    for (let page = 0; page < 2_000; page++) total += web.body(web.url(0, page))!.length
    expect(total / 2_000).toBeGreaterThan(13_000)
    expect(total / 2_000).toBeLessThan(15_000)
  })

  test('the shares of variants are those of the preset, replaced one by one', () => {
    const web = make({ pages: 4_000, hosts: 1, faults: 'mild', variants: { gone: 0.1, 'redirect-301': 0 } })
    let [gone, moved] = [0, 0]
    for (let page = 1; page < 4_000; page++) {
      const status = web.answerUrl(web.url(0, page))!.status
      if (status === 410) gone++
      if (status === 301) moved++
    }
    expect(gone / 4_000).toBeGreaterThan(0.08)
    expect(gone / 4_000).toBeLessThan(0.12)
    expect(moved).toBe(0)
  })

  test('shares that add up to more than everything are refused', () => {
    expect(() => make({ variants: { gone: 0.8, missing: 0.3 } })).toThrow('more than 1')
  })

  test('mirrors have the same bytes on every host, near-duplicates nearly', () => {
    const web = make({ faults: 'mild', hosts: 3 })
    const body = (host: number, path: string): string => String(web.body(web.hosts.at(host).origin + path))
    expect(body(0, '/mirror/1.html')).toBe(body(2, '/mirror/1.html'))
    expect(body(0, '/mirror/1.html')).not.toBe(body(0, '/mirror/2.html'))
    const [one, other] = [body(0, '/near/0.html'), body(2, '/near/3.html')]
    expect(one).not.toBe(other)
    expect(one.slice(-2_000)).toBe(other.slice(-2_000))
  })

  test.each([
    '/nowhere',
    '/news/p99999.html',
    '/docs/p1',
    '/mirror/4.html',
    '/mirror/01.html',
    '/_/nothing',
    '/chain/3/4',
    '/calendar/2026/1',
  ])('there is no page at %s', (path) => {
    const web = make({ faults: 'mild' })
    expect(web.answer(web.hosts.at(0), 'http', path).status).toBe(404)
  })
})

describe('hosts', () => {
  test('an address or name finds its host, and only exactly', () => {
    const web = make({ hosts: 600, naming: 'mixed', hostsPerAddress: 10, hostsPerDomain: 5 })
    for (let index = 0; index < 600; index++) expect(web.hosts.find(web.hosts.at(index).name)?.index).toBe(index)
    for (const name of [
      '127.1.2.200',
      '127.0.0.1',
      'h0.site0.test',
      'h300.site1.test',
      'h301.site9.test',
      'site0.test',
      '',
    ]) {
      expect(web.hosts.find(name), name).toBeNull()
    }
  })

  test('named hosts share addresses and domains as told', () => {
    const web = make({ hosts: 100, naming: 'names', hostsPerAddress: 10, hostsPerDomain: 5 })
    const hosts = Array.from({ length: 100 }, (_, index) => web.hosts.at(index))
    expect(new Set(hosts.map((host) => host.ip)).size).toBe(10)
    expect(new Set(hosts.map((host) => host.domain)).size).toBe(20)
  })

  test('a skewed web has as many pages in all, most of them on few hosts', () => {
    const web = make({ hosts: 100, pages: 100, hostSizes: 'skewed' })
    const pages = Array.from({ length: 100 }, (_, index) => web.hosts.at(index).pages)
    const total = pages.reduce((sum, each) => sum + each, 0)
    expect(Math.abs(total - 10_000)).toBeLessThan(200)
    expect(pages[0]).toBeGreaterThan(1_500)
    expect(pages[99]).toBeLessThan(25)
  })

  test('impossible options are refused, all at once', () => {
    expect(() => make({ hosts: 0, pages: 1.5, crossHostShare: 2, changePeriodMs: 0 })).toThrow(
      /hosts.*pages.*changePeriodMs.*crossHostShare/,
    )
  })
})
