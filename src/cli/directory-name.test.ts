import { resolve } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalise, type HostKey, hostKeyOf } from '../url/index.ts'
import { directoryNameOf } from './directory-name.ts'

test.each([
  ['http://Example.org:8080/x', './example.org'],
  ['http://[::1]/', './__1'],
  ['http://127.0.0.1/', './127.0.0.1'],
  ['http://example.org./', './example.org'],
  ['http://con/', './_con'],
  ['http://nul.example/', './_nul.example'],
  ['http://-rf/', './-rf'],
  ["http://a'b$c/", './a_b_c'],
])('%s goes into %s', (url, expected) => {
  const canonical = canonicalise(url)
  expect(typeof canonical === 'string' ? directoryNameOf(hostKeyOf(canonical)) : null).toBe(expected)
})

// The canonical form has none of these; a name must not depend on it.
test.each([
  ['..', './crawl'],
  ['.', './crawl'],
  ['', './crawl'],
  ['..a..', './a'],
  ['../../etc', './_.._etc'],
  ['a\0b', './a_b'],
])('a host %j goes into %s', (host, expected) => {
  expect(directoryNameOf(host as HostKey)).toBe(expected)
})

test('long names are cut, and stay apart', () => {
  const [one, other] = ['a', 'b'].map((end) => directoryNameOf(`${'x'.repeat(5_000)}${end}` as HostKey))
  expect(one?.length).toBeLessThan(120)
  expect(one).not.toBe(other)
})

test('whatever the host, it is a new name in the directory at hand', () => {
  const unit = fc.constantFrom('.', '/', '\\', '\0', ':', '~', 'a', '%', '-', '\n', '\u202e')
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit })), (host) => {
      const name = directoryNameOf(host as HostKey)
      expect(name).toMatch(/^\.\/[a-z0-9_-][a-z0-9._-]*$/)
      expect(resolve('/here', name)).toBe(`/here/${name.slice(2)}`)
    }),
  )
})
