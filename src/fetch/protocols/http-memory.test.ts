// What a request says because of earlier answers: cookies of the host, validators of the page.

import { expect, test } from 'vitest'
import { always, answer, openStand } from '../../../test/fetch-stand.ts'

const OK = 'HTTP/1.1 200 OK\r\n'

/** The Cookie line of the last request. */
function cookieOf(heads: readonly string[]): string | null {
  return /^cookie: (.*)\r$/im.exec(heads.at(-1) ?? '')?.[1] ?? null
}

test('a cookie comes back to the host that set it, and is written down', async () => {
  await using stand = await openStand(always(answer('ok', `${OK}Set-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n`)))
  const first = await stand.ask('/x/y')
  expect(first).toMatchObject({ kind: 'fetched', hasNewCookies: true })
  expect(cookieOf(stand.server.heads)).toBeNull()
  const again = await stand.ask('/x/y')
  expect(again).toMatchObject({ kind: 'fetched', hasNewCookies: false })
  expect(cookieOf(stand.server.heads)).toBe('b=2; a=1')
  expect((await stand.document('/')).requestHead).toBe(stand.server.heads.at(-1))
  expect(cookieOf(stand.server.heads)).toBe('a=1')
  await stand.document('/', { host: 'other.test' })
  expect(cookieOf(stand.server.heads)).toBeNull()
  expect(stand.fetcher.cookieFigures).toMatchObject({ hosts: 2, cookies: 5, refused: 0 })
})

test('a robots.txt may set one, and a folded line is one line', async () => {
  await using stand = await openStand(always(answer('ok', `${OK}Set-Cookie: a=1;\r\n  Max-Age=3600;\r\n Path=/\r\n`)))
  await stand.document('/robots.txt', { purpose: 'robots' })
  await stand.document('/x/y')
  expect(cookieOf(stand.server.heads)).toBe('a=1')
})

test('one that has expired is not sent', async () => {
  await using stand = await openStand(always(answer('ok', `${OK}Set-Cookie: a=1; Max-Age=5\r\n`)))
  await stand.document()
  stand.clock.advance(4_999)
  await stand.document()
  expect(cookieOf(stand.server.heads)).toBe('a=1')
  stand.clock.advance(5_000)
  await stand.document()
  expect(cookieOf(stand.server.heads)).toBeNull()
})

test('off is off', async () => {
  await using stand = await openStand(always(answer('ok', `${OK}Set-Cookie: a=1\r\n`)), { cookies: 'off' })
  expect(await stand.ask()).toMatchObject({ hasNewCookies: false })
  await stand.document()
  expect(cookieOf(stand.server.heads)).toBeNull()
  expect(stand.fetcher.cookieFigures).toBeNull()
})

test('a cookie beside a login is written down, the login is not', async () => {
  const logins = (port: number): object => ({ logins: [{ host: `127.0.0.1:${port}`, user: 'ann', password: 'x' }] })
  await using stand = await openStand(always(answer('ok', `${OK}Set-Cookie: a=1\r\n`)), logins)
  await stand.document()
  const { requestHead } = await stand.document()
  const sent = stand.server.heads.at(-1) ?? ''
  expect(sent).toContain('\r\nAuthorization: Basic ')
  expect(requestHead).toBe(sent.replace(/(?<=Authorization: ).*(?=\r)/, '[withheld]'))
  expect(cookieOf([requestHead])).toBe('a=1')
})

test('validators are asked with, as the server gave them, and nothing of them stays', async () => {
  await using stand = await openStand(always('HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'))
  const lastModified = 'Wed, 01 Jan 2020 00:00:00 GMT'
  const document = await stand.document('/', { validators: { etag: 'W/"x y"', lastModified } })
  expect(document).toMatchObject({ status: 304, truncated: null })
  expect(document.requestHead).toBe(stand.server.heads[0])
  expect(document.requestHead).toContain(`\r\nIf-None-Match: W/"x y"\r\nIf-Modified-Since: ${lastModified}\r\n\r\n`)
  expect((await stand.document('/', { validators: { etag: '"x"' } })).requestHead).not.toContain('If-Modified')
  expect((await stand.document('/')).requestHead).not.toContain('If-')
})
