// What we send, and that what we write down is what we sent.

import { describe, expect, test } from 'vitest'
import { always, answer, openStand } from '../../../test/fetch-stand.ts'
import { fetchOptions } from '../options.ts'
import { RequestHeads } from '../request-head.ts'

const page = always(answer('ok'))
const here = [{ ip: '127.0.0.1', family: 4 as const }]

describe('the head', () => {
  test.each(['/', '/a/b?c=d&e', '/??blah', '/99%', '/%C3%A9'])('recorded for %s is the head received', async (path) => {
    await using stand = await openStand(page, { headers: { 'X-Campaign': 'spring', Accept: 'text/html' } })
    for (const host of ['127.0.0.1', 'named.test']) {
      const document = await stand.document(path, { host, addresses: here })
      expect(document.requestHead).toBe(stand.server.heads.at(-1))
      expect(document.requestHead.startsWith(`GET ${path} HTTP/1.1\r\nhost: ${host}:${stand.server.port}\r\n`)).toBe(
        true,
      )
    }
  })

  test('says who we are, what we take, and what the configuration adds', async () => {
    await using stand = await openStand(page, {
      contact: 'mailto:crawl@example.org',
      headers: { accept: 'text/html', From: 'x' },
    })
    const { requestHead } = await stand.document()
    expect(requestHead).toMatch(
      /\r\nUser-Agent: Portolan\/[\d.]+ \(polite web crawler; contact: mailto:crawl@example\.org\)\r\n/,
    )
    expect(requestHead).toContain('\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n')
    expect(requestHead).toContain('\r\nAccept-Language: en,*;q=0.5\r\n')
    expect(requestHead).toContain('\r\nFrom: x\r\n')
    expect(requestHead.match(/\r\naccept: /gi)).toEqual(['\r\naccept: '])
    expect(requestHead).not.toMatch(/\r\ncookie:/i)
  })

  test('that cannot be sent is refused with the options', async () => {
    await expect(openStand(page, { userAgent: 'bad\r\nHost: evil' })).rejects.toThrow()
    await expect(openStand(page, { userAgent: 'smile \u{1F600}' })).rejects.toThrow()
  })
})

describe('a login', () => {
  const loginsAt = (port: number): object => ({
    logins: [
      { host: `Secret.test:${port}`, user: 'ann', password: 'pass:wörd' },
      { host: `other.test:${port}`, user: 'bob', passwordEnv: 'BOBS_PASSWORD' },
      { host: 'default.test', user: 'cid', password: 'x' },
    ],
  })
  const credentials = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

  test('goes to its host and port only, and is never written down', async () => {
    await using stand = await openStand(page, loginsAt, { env: { BOBS_PASSWORD: 'hush' } })
    const sent = async (host: string): Promise<string> => {
      const document = await stand.document('/', { host, addresses: here })
      expect(document.requestHead).not.toContain('Basic')
      return stand.server.heads.at(-1) ?? ''
    }
    expect(await sent('secret.test')).toContain(`\r\nAuthorization: ${credentials('ann:pass:wörd')}\r\n`)
    expect(await sent('other.test')).toContain(`\r\nAuthorization: ${credentials('bob:hush')}\r\n`)
    expect(await sent('www.secret.test')).not.toMatch(/authorization/i)
    expect(await sent('127.0.0.1')).not.toMatch(/authorization/i)
    // Without a port a login is for the default ports, and this server has another.
    expect(await sent('default.test')).not.toMatch(/authorization/i)
    const recorded = await stand.document('/', { host: 'secret.test', addresses: here })
    expect(recorded.requestHead).toContain('\r\nAuthorization: [withheld]\r\n')
  })

  test.each<[host: string, http: boolean, https: boolean]>([
    ['a.test', false, true],
    ['a.test:443', false, true],
    ['a.test:80', true, false],
    ['a.test:8080', false, false],
  ])('for %s goes over http: %j, over https: %j', (host, http, https) => {
    const heads = new RequestHeads(fetchOptions.parse({ logins: [{ host, user: 'u', password: 'p' }] }), null, {})
    expect(
      [heads.of('a.test', false), heads.of('a.test', true)].map(({ sent }) => /^authorization:/im.test(sent)),
    ).toEqual([http, https])
  })

  test('without its variable is a fault when the fetcher is made', async () => {
    await expect(openStand(page, loginsAt(80))).rejects.toThrow(/BOBS_PASSWORD/)
  })
})
