// Who we say we are: one way of it, from where secrets may be, and never shown.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readNatsAccess } from './nats-credentials.ts'
import { engineOptions } from './options.ts'

const folder = mkdtempSync(join(tmpdir(), 'portolan-nats-access-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const read = (
  options: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
): ReturnType<typeof readNatsAccess> => readNatsAccess(engineOptions.parse({ nats: ['nats.test'], ...options }), env)

test.each([
  ['host', 'nats://host:4222'],
  ['host:5', 'nats://host:5'],
  ['nats://host', 'nats://host:4222'],
  ['tls://host:5/', 'tls://host:5'],
  ['nats://[::1]:5', 'nats://[::1]:5'],
])('%s is %s', (text, shown) => {
  const { servers, credentials } = read({ nats: [text] })
  expect(servers).toEqual([shown])
  expect(credentials).toEqual(shown.startsWith('tls') ? { tls: {} } : {})
})

test.each(['', 'http://host', 'ws://host', 'nats://', 'nats://host/path', 'nats://host:99999', 'nats://u:p4ss@host/x'])(
  "'%s' is no server, and its password is not repeated",
  (text) => {
    const { success, error } = engineOptions.safeParse({ nats: [text] })
    expect(success).toBe(false)
    expect(error?.issues[0]?.message).toMatch(/is not the address of a NATS server/)
    expect(error?.issues[0]?.message).not.toContain('p4ss')
  },
)

test('a password in an address is taken, warned about, and not shown', () => {
  const { servers, credentials, warnings } = read({ nats: ['nats://me:p%404ss@a:1', 'nats://b:2'] })
  expect(servers).toEqual(['nats://a:1', 'nats://b:2'])
  expect(credentials).toEqual({ user: 'me', password: 'p@4ss' })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('nats://a:1 is given with a password')
  expect(warnings.join('')).not.toContain('4ss')
})

test('a name alone in an address is a token', () => {
  expect(read({ nats: ['nats://t0ken@a'] }).credentials).toEqual({ token: 't0ken' })
})

test('a user has a password from the environment, or from a file, or is refused', () => {
  expect(read({ natsUser: 'me' }, { NATS_PASSWORD: 'x' }).credentials).toEqual({ user: 'me', password: 'x' })
  expect(read({ natsUser: 'me', natsPasswordEnv: 'P' }, { P: 'y' }).credentials).toEqual({ user: 'me', password: 'y' })
  const natsPasswordFile = file('password', 'z\n')
  expect(read({ natsUser: 'me', natsPasswordFile }).credentials).toEqual({ user: 'me', password: 'z' })
  expect(() => read({ natsUser: 'me' })).toThrow(/no variable NATS_PASSWORD/)
  expect(() => read({ natsUser: 'me', natsPasswordFile: join(folder, 'none') })).toThrow(/reading the password from/)
})

test('a token that happens to be set is not meant where something else says who we are', () => {
  expect(read({}, { NATS_TOKEN: 't' }).credentials).toEqual({ token: 't' })
  const env = { NATS_TOKEN: 't', NATS_PASSWORD: 'x' }
  expect(read({ natsUser: 'me' }, env).credentials).toEqual({ user: 'me', password: 'x' })
  expect(read({ natsCreds: file('creds', 'jwt') }, env).credentials).toEqual({ creds: Buffer.from('jwt') })
})

test('two ways to say who we are are one too many', () => {
  const natsNkey = file('nk', 'SUA\n')
  expect(read({ natsNkey }).credentials).toEqual({ nkeySeed: Buffer.from('SUA') })
  expect(() => read({ natsNkey, natsCreds: natsNkey })).toThrow(/more than one way/)
  expect(() => read({ nats: ['nats://a:b@host'], natsUser: 'me' }, { NATS_PASSWORD: 'x' })).toThrow(/more than one way/)
})

test('certificates are read, and need their keys', () => {
  const [natsCa, natsCert, natsKey] = ['ca', 'cert', 'key'].map((name) => file(name, `PEM ${name}`))
  expect(read({ natsCa, natsCert, natsKey }).credentials).toEqual({
    tls: { ca: 'PEM ca', cert: 'PEM cert', key: 'PEM key' },
  })
  expect(() => read({ natsCert })).toThrow(/needs its key/)
})

test('without a server there is nobody to ask', () => {
  expect(() => read({ nats: [] })).toThrow(/no NATS server is given/)
})
