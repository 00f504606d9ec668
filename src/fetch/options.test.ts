import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fetchOptions } from './options.ts'
import { userAgentOf } from './user-agent.ts'

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

test.each<[options: object, complaint: string | RegExp]>([
  [{ proxy: 'socks4://a.test:1080' }, "'socks4://a.test:1080' is not a proxy; write it like"],
  [{ proxy: 'proxy.test:3128' }, "'proxy.test:3128' is not a proxy"],
  [{ proxy: 'http://proxy.test/path' }, 'is not a proxy'],
  [{ proxy: 'http://me:100%@proxy.test' }, 'a % that begins no escape'],
  [{ userAgent: 'a\nb' }, String.raw`"a\nb" has characters that cannot stand in a header`],
  [{ contact: 'mailto:я@a.test' }, 'cannot stand in a header'],
  [{ accept: 'a\r\n' }, 'cannot stand in a header'],
  [{ acceptLanguage: 'a\0' }, 'cannot stand in a header'],
  [{ caFile: '/no/such/file.pem' }, "there is no file '/no/such/file.pem'"],
  [{ caFile: '/' }, "'/' is a directory"],
])('%j is refused by the schema, with the other problems', (options, complaint) => {
  const result = fetchOptions.safeParse({ ...options, headTimeout: '0ms' })
  const messages = result.error?.issues.map(({ message }) => message) ?? []
  expect(messages).toHaveLength(2)
  expect(messages.join('\n')).toMatch(complaint)
})

test('a complaint about a proxy does not repeat its password', () => {
  for (const proxy of [
    'ftp://me:secret@a.test',
    'me:secret@a.test',
    'http://me:sec@secret@a.test/x',
    '//me:secret@/',
  ]) {
    expect(JSON.stringify(fetchOptions.safeParse({ proxy }).error?.issues)).not.toContain('secret')
  }
})

test('what is well written passes', () => {
  const options = { proxy: 'http://me:100%25@[::1]:3128', caFile: import.meta.filename, userAgent: 'Bot/1 (é)' }
  expect(fetchOptions.parse(options)).toMatchObject(options)
})

test('the defaults are a whole configuration', () => {
  expect(fetchOptions.parse({})).toMatchObject({
    allowPrivate: false,
    tls: 'verify',
    requestTimeout: 60_000,
    headMax: 65_536,
  })
})
