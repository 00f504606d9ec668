import { expect, test } from 'vitest'
import { isSettledOrigin } from './settled-origins.ts'

test.each([
  ['http://192.0.2.7:8080', true],
  ['https://[2001:db8::1]', true],
  ['https://xn--nxasmq6b.test', true],
  ['https://example.org', true],
  ['https://example.org:443', false],
  ['http://Example.org', false],
  ['http://user@example.org', false],
  ['http://example.org.', false],
  ['http://0x7f.1', false],
  ['http://é.test', false],
  ['http://a b', false],
  ['http://a?b', false],
  ['http://a#b', false],
  ['http://a\\b', false],
  ['http://', false],
  [`http://${'a.'.repeat(60)}test`, false],
])('%s is its own canonical form: %s', (origin, isSettled) => {
  // Twice: the second answer is remembered.
  expect(isSettledOrigin(origin)).toBe(isSettled)
  expect(isSettledOrigin(origin)).toBe(isSettled)
})
