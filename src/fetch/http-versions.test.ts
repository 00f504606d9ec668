import { expect, test } from 'vitest'
import { HttpVersions } from './http-versions.ts'

test.each([
  ['off', 'http/1.1'],
  ['needed', 'http/1.1-first'],
  ['offered', 'h2-too'],
] as const)('%s offers %s, and HTTP/1.1 alone to who asked for it', (mode, usual) => {
  const versions = new HttpVersions(mode)
  expect(versions.offerTo('https://a.test')).toBe(usual)
  versions.wantsHttp1('https://a.test')
  expect(versions.offerTo('https://a.test')).toBe('http/1.1')
  expect(versions.offerTo('https://b.test')).toBe(usual)
})

test('what hosts have taught is bounded, and the oldest is forgotten first', () => {
  const versions = new HttpVersions('offered')
  for (let i = 0; i < 5_000; i++) versions.wantsHttp1(`https://${i}.test`)
  expect(versions.noteCount).toBe(4_096)
  expect(versions.offerTo('https://0.test')).toBe('h2-too')
  expect(versions.offerTo('https://4999.test')).toBe('http/1.1')
})
