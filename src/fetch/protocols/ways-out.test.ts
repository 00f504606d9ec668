// Ways out other than straight: SOCKS proxies, real and lying, proxies behind TLS, and certificates that say who we are.

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createSecureContext, type TlsOptions } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { always, answer, openStand } from '../../../test/fetch-stand.ts'
import { RawServer } from '../../../test/raw-server.ts'
import { startMicrosocks } from '../../../test/real-servers.ts'
import { ScriptedFtp } from '../../../test/scripted-ftp.ts'
import { openTalkStand } from '../../../test/talk-stand.ts'
import { openAuthority } from '../../../test/test-authority.ts'
import { Certificates } from '../../../testweb/serve/certificates.ts'

const page = always(answer('ok'))
const here = [{ ip: '127.0.0.1', family: 4 as const }]
const { certificates, tls, directory, caFile } = openAuthority()

describe('a SOCKS proxy (microsocks)', () => {
  test('that is told addresses carries http, https, FTP and Gopher', async () => {
    await using proxy = await startMicrosocks()
    const option = { proxy: `socks5://127.0.0.1:${proxy.port}` }
    {
      await using stand = await openStand(page, option)
      expect(await stand.document('/a', { host: 'far.test', addresses: here })).toMatchObject({ ip: '127.0.0.1' })
      // No proxy is named to the server, and the path is that of any request.
      expect(stand.server.heads[0]).toMatch(/^GET \/a HTTP\/1\.1\r\nhost: far\.test:\d+\r\n/)
      expect(stand.server.heads[0]).not.toMatch(/proxy/i)
    }
    {
      await using stand = await openStand(page, { ...option, caFile }, { tls })
      await stand.document('/a', { host: 'far.test', addresses: here })
    }
    const ftp = await ScriptedFtp.open({ files: { '/f': 'file' } })
    {
      await using stand = openTalkStand(option)
      expect(await stand.text(`ftp://127.0.0.1:${ftp.port}/f`)).toBe('file')
    }
    await ftp.close()
    const gopher = createServer((socket) => socket.once('data', () => socket.end('text')))
    const port = await listening(gopher)
    {
      await using stand = openTalkStand(option)
      expect(await stand.text(`gopher://127.0.0.1:${port}/0/x`)).toBe('text')
    }
    gopher.close()
  })

  test('that is told names resolves them itself', async () => {
    await using proxy = await startMicrosocks()
    await using stand = await openStand(page, { proxy: `socks5h://127.0.0.1:${proxy.port}` })
    await stand.document('/', { host: 'localhost', addresses: [] })
    expect(await stand.ask('/', { host: 'no-such-name.invalid', addresses: [] })).toMatchObject({
      kind: 'failed',
      code: 'FETCH_PROXY_FAILED',
    })
  })

  test('lets in whoever knows the password', async () => {
    await using proxy = await startMicrosocks({ user: 'ann', password: 'hush:é' })
    for (const [login, isIn] of [
      ['ann:hush%3A%C3%A9@', true],
      ['ann:wrong@', false],
      ['', false],
    ] as const) {
      await using stand = await openStand(page, { proxy: `socks5://${login}127.0.0.1:${proxy.port}` })
      const outcome = await stand.ask('/', { addresses: here })
      expect(outcome).toMatchObject(isIn ? { kind: 'fetched' } : { kind: 'failed', code: 'FETCH_PROXY_FAILED' })
    }
  })
})

describe('a SOCKS proxy that refuses', () => {
  /** Sends the given pieces, one for each that comes. */
  async function lyingProxy(...pieces: readonly (Buffer | null)[]): Promise<{ port: number; said: Buffer[] }> {
    const said: Buffer[] = []
    const server = createServer((socket) => {
      let turn = 0
      socket.on('error', () => undefined)
      socket.on('data', (bytes: Buffer) => {
        said.push(bytes)
        const piece = pieces[turn++]
        if (piece === null || piece === undefined) socket.destroy()
        else socket.write(piece)
      })
    })
    onTestFinished(() => void server.close())
    return { port: await listening(server), said }
  }
  const hello = Buffer.of(5, 0)

  test.each([
    ['speaks another version', [Buffer.of(4, 0)], 'does not speak SOCKS5'],
    ['is no SOCKS proxy', [Buffer.from('HTTP/1.1 400 Bad\r\n\r\n')], 'does not speak SOCKS5'],
    ['wants a login we have not', [Buffer.of(5, 2)], 'another way to log in'],
    ['accepts no way to log in', [Buffer.of(5, 255)], 'another way to log in'],
    ['forbids it', [hello, Buffer.of(5, 2, 0, 1, 0, 0, 0, 0, 0, 0)], 'does not allow'],
    ['cannot reach the host', [hello, Buffer.of(5, 4, 0, 1, 0, 0, 0, 0, 0, 0)], 'host unreachable'],
    ['refuses by a number of its own', [hello, Buffer.of(5, 99, 0, 1, 0, 0, 0, 0, 0, 0)], 'refused with 99'],
    ['names a strange address', [hello, Buffer.of(5, 0, 0, 9, 0, 0, 0, 0, 0, 0)], 'does not speak SOCKS5'],
    ['closes instead', [hello, null], 'closed the connection'],
  ])('because it %s failed, by name', async (_what, pieces, detail) => {
    const { port } = await lyingProxy(...pieces)
    await using stand = await openStand(page, { proxy: `socks5://127.0.0.1:${port}` })
    const outcome = await stand.ask('/', { addresses: here })
    expect(outcome).toMatchObject({ kind: 'failed', code: 'FETCH_PROXY_FAILED' })
    expect(outcome).toHaveProperty('detail', expect.stringContaining(detail))
  })

  test('is asked for the address that was judged, or for the name', async () => {
    const v4 = await lyingProxy(hello, null)
    const v6 = await lyingProxy(hello, null)
    const named = await lyingProxy(hello, null)
    await using one = await openStand(page, { proxy: `socks5://127.0.0.1:${v4.port}` })
    await one.ask('/', { host: 'far.test', port: 258, addresses: [{ ip: '192.0.2.7', family: 4 }] })
    expect(v4.said[1]).toEqual(Buffer.of(5, 1, 0, 1, 192, 0, 2, 7, 1, 2))
    await using two = await openStand(page, { proxy: `socks5://127.0.0.1:${v6.port}` })
    await two.ask('/', { host: 'far.test', port: 258, addresses: [{ ip: '2001:db8::7', family: 6 }] })
    expect(v6.said[1]).toEqual(Buffer.of(5, 1, 0, 4, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2))
    await using three = await openStand(page, { proxy: `socks5h://127.0.0.1:${named.port}` })
    await three.ask('/', { host: 'far.test', port: 258, addresses: [] })
    expect(named.said[1]).toEqual(Buffer.concat([Buffer.of(5, 1, 0, 3, 8), Buffer.from('far.test'), Buffer.of(1, 2)]))
  })
})

describe('behind a proxy that resolves names', () => {
  test.each(['10.0.0.1', '127.0.0.1', '[::1]', '169.254.169.254', 'localhost', 'a.localhost'])(
    '%s says itself that it is private, and is refused',
    async (host) => {
      for (const kind of ['http', 'socks5h']) {
        await using stand = await openStand(page, { proxy: `${kind}://127.0.0.1:1`, allowPrivate: false })
        expect(await stand.ask('/', { host, addresses: [] })).toMatchObject({
          kind: 'skipped',
          reason: 'private-address',
        })
      }
    },
  )
})

test('a proxy behind TLS is told whole URLs and opens tunnels, as one without', async () => {
  const heads: string[] = []
  const proxy = await RawServer.open(
    (socket, head) => {
      heads.push(head)
      const target = /^CONNECT [^:]+:(\d+) /.exec(head)?.[1]
      if (target === undefined) socket.write(answer('from the proxy'))
      else tunnel(socket, Number(target))
    },
    { key: certificates.key, cert: certificates.certificateFor('127.0.0.1') },
  )
  onTestFinished(() => proxy.close())
  const option = { caFile, proxy: `https://ann:hush@127.0.0.1:${proxy.port}` }
  {
    await using stand = await openStand(page, option)
    const document = await stand.document('/a', { host: 'far.test', addresses: [] })
    expect(Buffer.from(document.body.bytes()).toString()).toBe('from the proxy')
    expect(heads[0]).toMatch(/^GET http:\/\/far\.test:\d+\/a HTTP\/1\.1\r\n/)
  }
  {
    await using stand = await openStand(page, option, { tls })
    const document = await stand.document('/a', { host: 'far.test', addresses: [] })
    expect(Buffer.from(document.body.bytes()).toString()).toBe('ok')
    expect(heads[1]).toMatch(/^CONNECT far\.test:\d+ HTTP\/1\.1\r\n/)
  }
  await using stranger = await openStand(page, { proxy: `https://127.0.0.1:${proxy.port}` })
  expect(await stranger.ask('/', { host: 'far.test', addresses: [] })).toMatchObject({ code: 'FETCH_PROXY_FAILED' })
})

test('FTP goes through a tunnel of an HTTP proxy', async () => {
  const ftp = await ScriptedFtp.open({ files: { '/f': 'file' } })
  onTestFinished(() => ftp.close())
  const proxy = createHttpServer()
  proxy.on('connect', ({ url = '' }, socket) => tunnel(socket as Socket, Number(url.split(':')[1])))
  const port = await listening(proxy)
  onTestFinished(() => void proxy.close())
  await using stand = openTalkStand({ proxy: `http://127.0.0.1:${port}` })
  const document = await stand.document(`ftp://far.test:${ftp.port}/f`, { addresses: [] })
  expect(Buffer.from(document.body.bytes()).toString()).toBe('file')
})

describe('a client certificate', () => {
  test('is shown to the hosts it is meant for, and to nobody else', async () => {
    const certFile = join(directory, 'me.pem')
    const keyFile = join(directory, 'me.key')
    writeFileSync(certFile, certificates.certificateFor('me.test'))
    writeFileSync(keyFile, certificates.key)
    const strict: TlsOptions = {
      requestCert: true,
      rejectUnauthorized: true,
      SNICallback: (name, done) =>
        done(
          null,
          createSecureContext({
            key: certificates.key,
            cert: certificates.certificateFor(name),
            ca: certificates.authority,
          }),
        ),
    }
    const names: (string | undefined)[] = []
    const clientCertificates = [{ hosts: ['Good.test', '*.inner.test'], certFile, keyFile }]
    await using stand = await openStand(page, { caFile, clientCertificates }, { tls: strict })
    stand.server.onConnection = (socket) =>
      names.push(
        (socket as { getPeerCertificate?: () => { subject?: { CN?: string } } }).getPeerCertificate?.().subject?.CN,
      )
    for (const host of ['good.test', 'a.inner.test']) await stand.document('/', { host, addresses: here })
    expect(names).toEqual(['me.test', 'me.test'])
    for (const host of ['other.test', 'inner.test', 'evilinner.test']) {
      expect(await stand.ask('/', { host, addresses: here })).toMatchObject({ code: 'FETCH_TLS_FAILED' })
    }
    expect(names).toHaveLength(2)
  })

  test('whose key does not fit, or whose passphrase is missing, is a fault when the fetcher is made', async () => {
    const certFile = join(directory, 'other.pem')
    writeFileSync(certFile, new Certificates(Date.now()).certificateFor('me.test'))
    const keyFile = join(directory, 'my.key')
    writeFileSync(keyFile, certificates.key)
    const one = { hosts: ['a.test'], certFile, keyFile }
    await expect(openStand(page, { clientCertificates: [one] })).rejects.toThrow(/other\.pem/)
    await expect(openStand(page, { clientCertificates: [{ ...one, passphraseEnv: 'WORD' }] })).rejects.toThrow(/WORD/)
    await expect(openStand(page, { clientCertificates: [{ ...one, keyFile: '/none' }] })).rejects.toThrow(/no file/)
  })
})

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function tunnel(socket: Socket, port: number): void {
  socket.removeAllListeners('data')
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('error', () => socket.destroy())
  socket.on('error', () => upstream.destroy())
  socket.on('close', () => upstream.destroy())
}
