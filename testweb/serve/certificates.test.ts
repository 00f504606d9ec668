// Certificates of our own making are such that Node and OpenSSL trust them, and those made wrong are not.

import { X509Certificate } from 'node:crypto'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ODD_ADDRESS } from '../content/host.ts'
import { startTestWeb, type TestWeb } from '../test-web.ts'
import { Certificates } from './certificates.ts'
import { bits, der, integer, oid, time } from './der.ts'

const hex = (bytes: Buffer): string => bytes.toString('hex')

describe('DER', () => {
  // Worked by hand from X.690.
  test('lengths are short below 128 and long from there on', () => {
    expect(hex(der(4, Buffer.alloc(3)))).toBe('0403000000')
    expect(hex(der(4, Buffer.alloc(127))).slice(0, 4)).toBe('047f')
    expect(hex(der(4, Buffer.alloc(128))).slice(0, 6)).toBe('048180')
    expect(hex(der(4, Buffer.alloc(300))).slice(0, 8)).toBe('0482012c')
  })

  test('whole numbers never look negative and carry no idle zeroes', () => {
    expect(hex(integer(Buffer.from([0, 0, 5])))).toBe('020105')
    expect(hex(integer(Buffer.from([0x80])))).toBe('02020080')
    expect(hex(integer(Buffer.from([0])))).toBe('020100')
  })

  test('object identifiers', () => {
    expect(hex(oid('1.2.840.10045.4.3.2'))).toBe('06082a8648ce3d040302')
    expect(hex(oid('2.5.29.17'))).toBe('0603551d11')
  })

  test('dates have two digits of the year until 2049', () => {
    expect(time(Date.UTC(2026, 1, 3, 4, 5, 6)).toString('latin1', 2)).toBe('260203040506Z')
    expect(time(Date.UTC(2050, 0, 1)).toString('latin1', 2)).toBe('20500101000000Z')
  })

  test('bit strings say how many bits do not count', () => {
    expect(hex(bits(Buffer.from([0b110]), 1))).toBe('03020106')
  })
})

describe('a certificate', () => {
  const nowMs = Date.UTC(2031, 5, 1)
  const certificates = new Certificates(nowMs)
  const authority = new X509Certificate(certificates.authority)

  test('of the authority signs itself and may sign others', () => {
    expect(authority.ca).toBe(true)
    expect(authority.verify(authority.publicKey)).toBe(true)
    expect(Date.parse(authority.validTo)).toBeGreaterThan(nowMs)
  })

  test.each(['h0.site0.test', 'a.very.long.name.with.many.labels.that.goes.beyond.sixty.four.characters.test'])(
    'of %s is for that name only',
    (name) => {
      const leaf = new X509Certificate(certificates.certificateFor(name))
      expect(leaf.checkIssued(authority)).toBe(true)
      expect(leaf.verify(authority.publicKey)).toBe(true)
      expect(leaf.ca).toBe(false)
      expect(leaf.checkHost(name)).toBe(name)
      expect(leaf.checkHost('other.test')).toBeUndefined()
    },
  )

  test('of an address is for that address', () => {
    const leaf = new X509Certificate(certificates.certificateFor('127.1.0.9'))
    expect(leaf.checkIP('127.1.0.9')).toBe('127.1.0.9')
    expect(leaf.checkIP('127.1.0.8')).toBeUndefined()
  })
})

describe('over TLS', () => {
  let testWeb: TestWeb
  beforeAll(async () => {
    testWeb = await startTestWeb({ hosts: 4, pages: 1, https: true, naming: 'mixed' })
  })
  afterAll(() => testWeb.stop())

  function ask(ip: string, name: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connectTls({
        host: ip,
        port: testWeb.httpsPort!,
        ca: testWeb.authority!,
        ...(name === ip ? {} : { servername: name }),
      })
      let text = ''
      socket.on('secureConnect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`))
      socket.on('data', (part: Buffer) => (text += part.toString('latin1')))
      socket.on('error', (cause: NodeJS.ErrnoException) => {
        text = cause.code ?? cause.message
      })
      socket.on('close', () => resolve(text))
    })
  }

  test.each([1, 3])('host %d, at home there, is trusted and served', async (index) => {
    const { name, ip, scheme } = testWeb.web.hosts.at(index)
    expect(scheme).toBe('https')
    expect(await ask(ip, name)).toContain(`Page 0 of ${name}`)
    const request = [...testWeb.log.requests()].at(-1)
    expect(request).toMatchObject({ scheme: 'https', host: name, ip, status: 200 })
    expect(request?.endMs).toBeLessThan(Number.POSITIVE_INFINITY)
  })

  test('a host at home on http sends you there', async () => {
    const { name, ip } = testWeb.web.hosts.at(2)
    expect(await ask(ip, name)).toContain(`Location: http://${name}:${testWeb.port}/`)
  })

  test.each([
    ['expired.odd.test', 'CERT_HAS_EXPIRED'],
    ['wrong-name.odd.test', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['self-signed.odd.test', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('%s is not trusted: %s', async (name, code) => {
    expect(await ask(ODD_ADDRESS, name)).toBe(code)
  })
})
