// The name server, asked by Node's own resolver and by hand.

import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ODD_ADDRESSES } from '../content/host.ts'
import { startTestWeb, type TestWeb } from '../test-web.ts'
import { readQuestion } from './message.ts'

let testWeb: TestWeb
let resolver: Resolver
beforeAll(async () => {
  testWeb = await startTestWeb({ hosts: 6, pages: 1, naming: 'names', hostsPerAddress: 2, dnsTtlS: 77 })
  resolver = new Resolver({ timeout: 60_000, tries: 1 })
  resolver.setServers([`${testWeb.dns.address}:${testWeb.dns.port}`])
})
afterAll(() => testWeb.stop())

const failure = (asking: Promise<unknown>): Promise<string> =>
  asking.then(
    () => 'answered',
    (cause: NodeJS.ErrnoException) => cause.code ?? cause.message,
  )

describe('hosts of the web', () => {
  test('have their address, for as long as the options say', async () => {
    expect(await resolver.resolve4('h0.site0.test', { ttl: true })).toEqual([{ address: '127.64.0.1', ttl: 77 }])
    expect(await resolver.resolve4('h1.site0.test')).toEqual(['127.64.0.1'])
    expect(await resolver.resolve4('H5.Site1.TEST')).toEqual(['127.64.0.3'])
  })

  test('have no IPv6 address, and that is an answer', async () => {
    expect(await failure(resolver.resolve6('h0.site0.test'))).toBe('ENODATA')
  })

  test('questions are counted by name and type', async () => {
    await resolver.resolve4('h2.site0.test')
    await resolver.resolve4('h2.site0.test')
    expect(testWeb.dns.queries('h2.site0.test')).toBe(2)
    expect(testWeb.dns.queries('h2.site0.test', 'AAAA')).toBe(0)
  })
})

describe('names that are odd', () => {
  test.each([
    ['h9.site0.test', 'ENOTFOUND'],
    ['example.org', 'ENOTFOUND'],
    ['nxdomain.odd.test', 'ENOTFOUND'],
    ['servfail.odd.test', 'ESERVFAIL'],
    ['refused.odd.test', 'EREFUSED'],
    ['empty.odd.test', 'ENODATA'],
  ])('%s fails with %s', async (name, code) => {
    expect(await failure(resolver.resolve4(name))).toBe(code)
  })

  test('no answer is no answer', async () => {
    const hasty = new Resolver({ timeout: 50, tries: 1 })
    hasty.setServers([`${testWeb.dns.address}:${testWeb.dns.port}`])
    expect(await failure(hasty.resolve4('silent.odd.test'))).toBe('ETIMEOUT')
  })

  test('a slow one takes its time', async () => {
    const startMs = performance.now()
    expect(await resolver.resolve4('slow-60.odd.test')).toEqual(['127.127.0.1'])
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(60)
  })

  test.each([
    ['private.odd.test', ['10.0.0.1']],
    ['several.odd.test', [...ODD_ADDRESSES]],
    ['dead.odd.test', ['127.126.0.1', '127.127.0.1']],
    ['alias.odd.test', ['127.127.0.1']],
    ['plain.odd.test', ['127.127.0.1']],
    ['one.plain.odd.test', ['127.127.0.1']],
  ])('%s has %j', async (name, addresses) => {
    expect(await resolver.resolve4(name)).toEqual(addresses)
  })

  test('one changes with every question', async () => {
    const seen = []
    for (let i = 0; i < 3; i++) seen.push(...(await resolver.resolve4('changing.odd.test')))
    expect(seen).toEqual(['127.127.0.1', '127.127.0.2', '127.127.0.3'])
  })

  test('one turns inward after the first question', async () => {
    expect(await resolver.resolve4('rebinding.odd.test')).toEqual(['192.0.2.1'])
    expect(await resolver.resolve4('rebinding.odd.test')).toEqual(['127.127.0.1'])
  })

  test('one has its time to live in its name, one IPv6 only', async () => {
    expect(await resolver.resolve4('ttl-5.odd.test', { ttl: true })).toEqual([{ address: '127.127.0.1', ttl: 5 }])
    expect(await resolver.resolve6('ipv6.odd.test')).toEqual(['::1'])
    expect(await failure(resolver.resolve4('ipv6.odd.test'))).toBe('ENODATA')
  })

  test('one is truncated over UDP and whole over TCP', async () => {
    expect(await resolver.resolve4('truncated.odd.test')).toEqual(['127.127.0.1'])
    expect(testWeb.dns.queries('truncated.odd.test')).toBe(2)
  })

  test('each is a host of one page over HTTP', async () => {
    const text = await new Promise<string>((resolve) => {
      const socket = connect(testWeb.port, '127.127.0.1', () =>
        socket.write('GET / HTTP/1.0\r\nHost: slow-9.odd.test\r\n\r\n'),
      )
      let all = ''
      socket.on('data', (part) => (all += String(part)))
      socket.on('close', () => resolve(all))
    })
    expect(text).toContain('Page 0 of slow-9.odd.test')
  })
})

describe('messages', () => {
  test('the question comes back as it was asked, letter for letter, with its number', async () => {
    const name = Buffer.from('\x02H0\x05sItE0\x04test\x00', 'latin1')
    const question = Buffer.concat([
      Buffer.from('beef01000001000000000000', 'hex'),
      name,
      Buffer.from('00010001', 'hex'),
    ])
    const reply = await new Promise<Buffer>((resolve) => {
      const socket = createSocket('udp4')
      socket.on('message', (message) => {
        socket.close()
        resolve(message)
      })
      socket.send(question, testWeb.dns.port, testWeb.dns.address)
    })
    expect(reply.readUInt16BE(0)).toBe(0xbeef)
    expect(reply.subarray(12, 12 + name.length)).toEqual(name)
    // Response, authoritative, recursion desired and available, no error.
    expect(reply.readUInt16BE(2)).toBe(0x8580)
    expect(reply.readUInt16BE(6)).toBe(1)
  })

  test.each([
    '',
    '00',
    'beef0100000000000000',
    'beef01000002000000000000',
    'beef0100000100000000000040',
    'beef010000010000000000000561',
  ])('%s is no question', (hex) => {
    expect(readQuestion(Buffer.from(hex, 'hex'))).toBeNull()
  })
})
