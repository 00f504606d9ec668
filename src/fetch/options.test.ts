import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fetchOptions, userAgentOf } from './options.ts'

test('the user agent names the version of the package and who to write to', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(userAgentOf({ userAgent: '', contact: '' })).toBe(
    `Portolan/${version} (polite web crawler; contact: the operator of this machine)`,
  )
  expect(userAgentOf({ userAgent: '', contact: 'https://a.test/bot' })).toContain('contact: https://a.test/bot)')
  expect(userAgentOf({ userAgent: 'Other/1', contact: 'ignored' })).toBe('Other/1')
})

test.each<[what: string, options: object]>([
  ['a header of the connection', { headers: { Host: 'x' } }],
  ['a header with its own option', { headers: { 'user-agent': 'x' } }],
  ['a header over two lines', { headers: { X: 'a\r\nb' } }],
  ['a header with a blank in its name', { headers: { 'X Y': 'a' } }],
  ['a login without a password', { logins: [{ host: 'a', user: 'b' }] }],
  ['a login with two passwords', { logins: [{ host: 'a', user: 'b', password: 'c', passwordEnv: 'D' }] }],
  ['a login whose user has a colon', { logins: [{ host: 'a', user: 'b:c', password: 'd' }] }],
  ['a type without a slash', { acceptTypes: ['html'] }],
  ['a type with a star in front', { rejectTypes: ['*/html'] }],
  ['a time-out of nothing', { headTimeout: '0ms' }],
  ['an option that is none', { timeout: '1s' }],
])('%s is refused', (_what, options) => {
  expect(fetchOptions.safeParse(options).success).toBe(false)
})

test('the defaults are a whole configuration', () => {
  expect(fetchOptions.parse({})).toMatchObject({
    allowPrivate: false,
    tls: 'verify',
    requestTimeout: 60_000,
    headMax: 65_536,
  })
})
