// A black list is kept in whatever option there is, and read back as it was written.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { blackListOf, domainOf, domainsIn, patternOf } from './black-list.ts'

const exclude = (value: unknown) => [{ name: 'url.exclude', section: 'url', key: 'exclude', value }]

test('domains become patterns and come back, and other patterns stay where they were', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.domain(), { maxLength: 10 }), (domains) => {
      const list = blackListOf(exclude(['/private/']))
      const value = list?.valueWith(domains) ?? []
      expect(value[0]).toBe('/private/')
      expect(blackListOf(exclude(value))?.domains).toEqual(domains)
    }),
  )
})

test('a pattern means the domain and what is below it, and nothing that only looks like it', () => {
  const pattern = new RegExp(patternOf('example.org'))
  for (const url of ['https://example.org/', 'http://a.b.example.org/x', 'https://example.org:8080/'])
    expect(pattern.test(url)).toBe(true)
  for (const url of [
    'https://badexample.org/',
    'https://example.org.evil.test/',
    'https://exampleXorg/',
    'https://a.test/?u=http://example.org/',
  ])
    expect(pattern.test(url)).toBe(false)
})

test('a pattern of somebody else is not taken for a domain', () => {
  expect(domainOf('^https://example\\.org/')).toBeNull()
})

test('an option made for it is used where there is one', () => {
  const list = blackListOf([...exclude([]), { name: 'url.block', section: 'url', key: 'block', value: ['a.test'] }])
  expect(list?.key).toBe('block')
  expect(list?.valueWith(['a.test', 'b.test'])).toEqual(['a.test', 'b.test'])
})

test('what is pasted is understood', () => {
  expect(domainsIn(' https://Ads.example.org/x?y\n*.tracker.test, .third.test;a.test a.test ')).toEqual([
    'ads.example.org',
    'tracker.test',
    'third.test',
    'a.test',
  ])
})
