// A robots.txt is whatever a server sends for it: any bytes are read, and judged against, without throwing.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Random } from '../base/index.ts'
import { parseRobots } from './parse-robots.ts'

const SAMPLE = Buffer.from(
  `\uFEFF# robots\r\nUser-agent: *\rDisallow: /a*b$\nAllow: /%7Eé/\nCrawl-delay: 1.5\nSitemap: http://a/s.xml\n\nUser-Agent : Portolan/1.0\nDissalow /x\n`,
)
const PATHS = ['/', '/a', '/axb', '/~é/', '/%7e%C3%A9/', `/${'a'.repeat(2_000)}`, '/?', '//']

function readAll(bytes: Buffer): void {
  const file = parseRobots(bytes)
  for (const agent of ['portolan', '*', '']) {
    const rules = file.rulesFor(agent)
    for (const path of PATHS) expect(typeof rules.decide(path).allowed).toBe('boolean')
  }
}

test('random bytes are a robots.txt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => readAll(Buffer.from(bytes))),
    { numRuns: 300 },
  )
})

test('one mutated at random is still read', () => {
  const random = new Random('robots-fuzz')
  for (let round = 0; round < 1_000; round++) {
    const bytes = Buffer.from(SAMPLE)
    for (let change = 0; change < 1 + random.below(8); change++) {
      const at = random.below(bytes.length)
      if (random.below(2) === 0) bytes[at] = random.below(256)
      else bytes.copyWithin(at, random.below(bytes.length), random.below(bytes.length))
    }
    readAll(bytes)
  }
})

test.each([
  'User-agent: *\nDisallow: /',
  'Disallow: /*',
  '*',
  ':',
  '#',
  '\n',
  ' ',
  '\0',
  'User-agent: a\n',
  'Sitemap: x\n',
  '%',
  '$',
])('as much of %j as is read is read at once', (piece) =>
  readAll(Buffer.from(`User-agent: *\nDisallow: ${piece.repeat(Math.ceil(600_000 / piece.length))}`)),
)
