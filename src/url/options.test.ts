import { expect, test } from 'vitest'
import { optionFacts } from '../base/options.ts'
import type { CanonicalUrl } from './canonical-url.ts'
import { compileCanonicaliser } from './canonicalise.ts'
import { urlOptions } from './options.ts'
import { compileScope } from './scope.ts'

test('the defaults are the host of the seeds, no limits, and no rules', () => {
  expect(urlOptions.parse({})).toEqual({
    scope: 'host',
    include: [],
    exclude: [],
    block: [],
    maxDepth: null,
    pathDepth: null,
    urlLength: 2_083,
    sessionIds: [],
    filter: null,
  })
})

test('options as read fit the canonicaliser and the scope', () => {
  const options = urlOptions.parse({ include: ['a'], filter: { not: { host: 'h' } }, sessionIds: ['sid'] })
  expect(compileCanonicaliser(options)('http://h/?sid=1')).toBe('http://h/')
  expect(compileScope(options).judge('http://h/a' as CanonicalUrl, 1)).toBe('out-of-scope')
})

test('every option has a text', () => {
  for (const [name, schema] of Object.entries(urlOptions.shape)) expect(optionFacts(schema)?.text, name).toBeTruthy()
})

test.each([
  [{ scope: 'site' }],
  [{ include: ['('] }],
  [{ maxDepth: -1 }],
  [{ urlLength: 10 }],
  [{ filter: { hosts: 'h' } }],
  [{ depth: 1 }],
])('%j is refused', (options) => {
  expect(urlOptions.safeParse(options).success).toBe(false)
})
