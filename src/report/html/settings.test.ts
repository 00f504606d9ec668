import { expect, test } from 'vitest'
import { flatten } from './settings.ts'

test('settings are named by their path, and what is not set says so', () => {
  expect(flatten({ url: { scope: 'host', include: ['^/a', '^/b'], maxDepth: null, exclude: [] }, agents: 4 })).toEqual([
    ['url.scope', 'host'],
    ['url.include', '["^/a","^/b"]'],
    ['url.maxDepth', 'not set'],
    ['url.exclude', 'not set'],
    ['agents', '4'],
  ])
})

test.each(['auth', 'basicAuth', 'password', 'apiToken', 'secretKey', 'cookies', 'headers', 'proxy', 'credentials'])(
  'what is under %s is not shown',
  (name) => {
    expect(flatten({ fetch: { [name]: { deep: ['hunter2'] } } })).toEqual([[`fetch.${name}`, '(set, not shown)']])
    expect(flatten({ fetch: { [name]: null } })).toEqual([[`fetch.${name}`, 'not set']])
  },
)

test('a password inside a URL is not shown, also in a list', () => {
  expect(flatten({ a: 'http://me:hunter2@x.example/', b: ['ftp://me@y.example/'] })).toEqual([
    ['a', 'http://x.example/'],
    ['b', '["ftp://y.example/"]'],
  ])
})
