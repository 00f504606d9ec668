// Certificates and proxies, with an authority and a proxy of our own.

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { always, answer, once, openStand, type Stand } from '../../../test/fetch-stand.ts'
import { RawServer } from '../../../test/raw-server.ts'
import { openAuthority } from '../../../test/test-authority.ts'

const page = always(answer('ok'))
const here = [{ ip: '127.0.0.1', family: 4 as const }]
const { tls, directory, caFile } = openAuthority()

describe('TLS', () => {
  test('a certificate of an authority we trust is accepted, for a name with a final dot too', async () => {
    await using stand = await openStand(page, { caFile }, { tls })
    for (const host of ['good.test', 'good.test.']) {
      const document = await stand.document('/', { host, addresses: here })
      expect(document.url.startsWith('https://')).toBe(true)
      expect(document.requestHead).toBe(stand.server.heads.at(-1))
    }
  })

  test.each(['expired.test', 'wrong-name.test', 'self-signed.test'])(
    'the certificate of %s is refused, and accepted by choice',
    async (host) => {
      await using strict = await openStand(page, { caFile }, { tls })
      expect(await strict.ask('/', { host, addresses: here })).toMatchObject({
        kind: 'failed',
        code: 'FETCH_TLS_FAILED',
      })
      expect(strict.server.heads).toEqual([])
      await using easy = await openStand(page, { tls: 'accept-any' }, { tls })
      await easy.document('/', { host, addresses: here })
    },
  )

  test('an authority we do not trust is refused', async () => {
    await using stand = await openStand(page, {}, { tls })
    expect(await stand.ask('/', { host: 'good.test', addresses: here })).toMatchObject({ code: 'FETCH_TLS_FAILED' })
  })

  test('a server that speaks no TLS fails by its name, and so does one that breaks off', async () => {
    for (const script of [
      (socket: Socket): unknown => socket.end('HTTP/1.1 400 Bad\r\n\r\n'),
      (socket: Socket): unknown => socket.destroy(),
    ]) {
      const plain = await RawServer.open(() => undefined)
      plain.onConnection = script
      await using stand = await openStand(page)
      expect(await stand.ask('/', { scheme: 'https', port: plain.port })).toMatchObject({ code: 'FETCH_TLS_FAILED' })
      await plain.close()
    }
  })

  test('a CA file that is not there is a fault when the fetcher is made', async () => {
    await expect(openStand(page, { caFile: join(directory, 'missing.pem') })).rejects.toThrow(/missing\.pem/)
  })
})

function tunnel(socket: Socket, port: number): void {
  socket.removeAllListeners('data')
  const upstream = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\nVia: us\r\n\r\n')
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('error', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
}

/** A stand whose requests go through a proxy that tunnels to its server. */
async function proxied(
  options: object,
  use: (stand: Stand, proxy: RawServer) => Promise<void>,
  isSecure: boolean,
): Promise<void> {
  const proxy = await RawServer.open((socket, head) => {
    const target = /^CONNECT [^:]+:(\d+) /.exec(head)?.[1]
    if (target === undefined) socket.write(answer('from the proxy'))
    else if (head.includes('refused.test')) socket.end('HTTP/1.1 407 Who are you\r\n\r\n')
    else if (head.includes('garbage.test')) socket.end('hello\r\n\r\n')
    else if (head.includes('silent.test')) socket.end()
    else tunnel(socket, Number(target))
  })
  {
    await using stand = await openStand(
      page,
      { caFile, proxy: `http://ann:hush@127.0.0.1:${proxy.port}`, ...options },
      isSecure ? { tls } : {},
    )
    await use(stand, proxy)
  }
  await proxy.close()
}
const login = `Basic ${Buffer.from('ann:hush').toString('base64')}`

describe('a proxy', () => {
  test('is told the whole URL of http, with its own login, which is not written down', async () => {
    await proxied(
      {},
      async (stand, proxy) => {
        const document = await stand.document('/a?b', { host: 'far.test', addresses: [] })
        expect(Buffer.from(document.body.bytes()).toString()).toBe('from the proxy')
        const [head] = proxy.heads
        expect(head).toContain(
          `GET http://far.test:${stand.server.port}/a?b HTTP/1.1\r\nhost: far.test:${stand.server.port}\r\n`,
        )
        expect(head).toContain(`\r\nProxy-Authorization: ${login}\r\n`)
        expect(document.requestHead).toBe(head?.replace(login, '[withheld]'))
        expect(document.ip).toBe('127.0.0.1')
        expect(stand.server.connectionCount).toBe(0)
      },
      false,
    )
  })

  test('gives a tunnel for https, through which it sees nothing', async () => {
    await proxied(
      {},
      async (stand, proxy) => {
        const document = await stand.document('/a', { host: 'far.test', addresses: [] })
        expect(Buffer.from(document.body.bytes()).toString()).toBe('ok')
        expect(proxy.heads).toEqual([
          `CONNECT far.test:${stand.server.port} HTTP/1.1\r\nhost: far.test:${stand.server.port}\r\nproxy-authorization: ${login}\r\n\r\n`,
        ])
        expect(stand.server.heads[0]).not.toMatch(/proxy-authorization/i)
        expect(document.requestHead).toBe(stand.server.heads[0])
        await stand.document('/b', { host: 'far.test', addresses: [] })
        expect(proxy.connectionCount).toBe(1)
      },
      true,
    )
  })

  test.each(['refused.test', 'garbage.test', 'silent.test'])(
    'that does not give a tunnel to %s failed',
    async (host) => {
      await proxied(
        {},
        async (stand) => {
          expect(await stand.ask('/', { host, addresses: [] })).toMatchObject({
            kind: 'failed',
            code: 'FETCH_PROXY_FAILED',
          })
        },
        true,
      )
    },
  )

  test('that is not there failed', async () => {
    const gone = await RawServer.open(once(''))
    const { port } = gone
    await gone.close()
    await using stand = await openStand(page, { proxy: `http://127.0.0.1:${port}` })
    expect(await stand.ask()).toMatchObject({ kind: 'failed', code: 'FETCH_PROXY_FAILED' })
  })

  test('is no way around the refusal of private addresses that are known', async () => {
    await proxied(
      { allowPrivate: false },
      async (stand, proxy) => {
        expect(await stand.ask('/', { host: 'inside.test', addresses: here })).toMatchObject({
          kind: 'skipped',
          reason: 'private-address',
        })
        expect(proxy.connectionCount).toBe(0)
      },
      false,
    )
  })

  test.each(['127.0.0.1', '[::1]', '[::ffff:7f00:1]', 'localhost', '169.254.169.254'])(
    'is not asked for %s, which is private by its name',
    async (host) => {
      await proxied(
        { allowPrivate: false },
        async (stand, proxy) => {
          expect(await stand.ask('/', { host, addresses: [] })).toMatchObject({
            kind: 'skipped',
            reason: 'private-address',
          })
          expect(proxy.connectionCount).toBe(0)
        },
        false,
      )
    },
  )

  test.each(['ftp://proxy:1', 'proxy:3128', 'http://', 'http://proxy/path'])('%s is none', async (proxy) => {
    await expect(openStand(page, { proxy })).rejects.toThrow(/not a proxy/)
  })
})
