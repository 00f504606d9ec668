// What a reader sees of the settings: what was changed, in units, and no secret.

import { expect, test } from 'vitest'
import { agentOptions } from '../../agent/options.ts'
import { fetchOptions } from '../../fetch/options.ts'
import { changedSettings } from './setting-rows.ts'

test('settings at their defaults are not shown', () => {
  expect(changedSettings({ agent: agentOptions.parse({}), fetch: fetchOptions.parse({}) })).toEqual([])
})

test('what was changed is shown in the units of people', () => {
  const options = {
    agent: { ...agentOptions.parse({}), maxWait: 90_000, memory: 2 ** 30 * 1.5, maxPages: 500, linkLog: false },
    frontier: { delay: 0 },
    url: { scope: 'any', include: ['^/a', '^/b'], filter: { all: [] } },
  }
  expect(changedSettings(options)).toEqual([
    ['agent.maxPages', '500'],
    ['agent.maxWait', '1m30s'],
    ['agent.memory', '1.5 GiB'],
    ['agent.linkLog', 'no'],
    ['frontier.delay', '0ms'],
    ['url.scope', 'any'],
    ['url.include', '^/a, ^/b'],
    ['url.filter', '{"all":[]}'],
  ])
})

test('a default that was taken away says so', () => {
  expect(changedSettings({ fetch: { acceptLanguage: '' } })).toEqual([['fetch.acceptLanguage', 'not set']])
})

test('settings of another version are shown as they are', () => {
  expect(
    changedSettings({ agents: 4, dns: { novelty: 7 }, orbit: { a: null, b: { c: [] } }, constructor: { x: 1 } }),
  ).toEqual([
    ['agents', '4'],
    ['dns.novelty', '7'],
    ['orbit.a', 'not set'],
    ['orbit.b.c', 'not set'],
    ['constructor.x', '1'],
  ])
})

test.each(['auth', 'basicAuth', 'password', 'apiToken', 'secretKey', 'cookies', 'credentials', 'logins'])(
  'what is under %s is not shown',
  (name) => {
    expect(changedSettings({ orbit: { [name]: { deep: ['hunter2'] } } })).toEqual([
      [`orbit.${name}`, '(set, not shown)'],
    ])
    for (const nothing of [null, '', [], {}]) {
      expect(changedSettings({ orbit: { [name]: nothing } })).toEqual([[`orbit.${name}`, 'not set']])
    }
  },
)

test('headers, logins and the proxy are named only when there are any, and their values never', () => {
  expect(changedSettings({ fetch: { headers: {}, logins: [], proxy: '' } })).toEqual([])
  expect(
    changedSettings({
      fetch: { headers: { 'X-Key': 'hunter2' }, logins: [{ host: 'a', user: 'hunter2' }], proxy: 'http://hunter2/' },
    }),
  ).toEqual([
    ['fetch.headers', '(set, not shown)'],
    ['fetch.logins', '(set, not shown)'],
    ['fetch.proxy', '(set, not shown)'],
  ])
})

test('a password inside a URL is not shown, also in a list', () => {
  expect(changedSettings({ a: 'http://me:hunter2@x.example/', b: ['ftp://me@y.example/'] })).toEqual([
    ['a', 'http://x.example/'],
    ['b', 'ftp://y.example/'],
  ])
})
