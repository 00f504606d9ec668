// Which connection a request takes, which addresses are tried, and what is closed when.

import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { always, answer, openStand } from '../../../test/fetch-stand.ts'
import { systemClock } from '../../base/index.ts'

const v4 = (ip: string): { ip: string; family: 4 } => ({ ip, family: 4 })
const page = always(answer('ok'))

describe('keeping', () => {
  test('requests in a row share one connection', async () => {
    await using stand = await openStand(page)
    for (let i = 0; i < 5; i++) await stand.document(`/${i}`)
    expect(stand.server.connectionCount).toBe(1)
    expect(stand.server.heads).toHaveLength(5)
  })

  test('a host that needs no keeping gets one connection per request, and is told so', async () => {
    await using stand = await openStand(page, { keepAlive: '0ms' })
    for (let i = 0; i < 3; i++) expect((await stand.document()).requestHead).toContain('\r\nconnection: close\r\n')
    expect(stand.server.connectionCount).toBe(3)
    expect(stand.server.heads[0]).toContain('\r\nconnection: close\r\n')
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('an idle connection is closed after keepAlive', async () => {
    await using stand = await openStand(page, { keepAlive: '20ms' }, { clock: systemClock })
    await stand.document()
    await stand.server.until(() => stand.server.openConnections === 0)
    await stand.document()
    expect(stand.server.connectionCount).toBe(2)
  })

  test('a server that says how long it keeps a connection is not asked on it later', async () => {
    const head = 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=9\r\n'
    await using stand = await openStand(always(answer('ok', head)))
    await stand.document()
    stand.clock.advance(3_900)
    await stand.document()
    expect(stand.server.connectionCount).toBe(1)
    stand.clock.advance(4_100)
    await stand.document()
    expect(stand.server.connectionCount).toBe(2)
    await stand.server.until(() => stand.server.openConnections === 1)
  })

  test('a server that will keep it no time at all gets a new connection each time', async () => {
    await using stand = await openStand(always(answer('ok', 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\n')))
    for (let i = 0; i < 2; i++) await stand.document()
    expect(stand.server.connectionCount).toBe(2)
  })

  test('answers of HTTP/1.0 are asked on one connection only where they say so', async () => {
    await using stand = await openStand((socket, head) => {
      socket.write(answer('ok', `HTTP/1.0 200 OK\r\n${head.includes('/kept') ? 'Connection: keep-alive\r\n' : ''}`))
    })
    for (let i = 0; i < 3; i++) await stand.document('/kept')
    expect(stand.server.connectionCount).toBe(1)
    await stand.document('/last')
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('chunked answers in a row share one connection', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n'
    await using stand = await openStand(always(chunked))
    for (let i = 0; i < 4; i++) await stand.document()
    expect(stand.server.connectionCount).toBe(1)
  })

  test('a connection the server closes or resets while it is idle is forgotten', async () => {
    for (const close of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      let last: Socket | null = null
      await using stand = await openStand((socket) => {
        last = socket
        socket.write(answer('ok'))
      })
      await stand.document()
      close(last as unknown as Socket)
      await stand.server.until(() => stand.server.openConnections === 0)
      while (stand.fetcher.figures.clients > 0) await new Promise((resolve) => setImmediate(resolve))
      await stand.document()
      expect(stand.server.connectionCount).toBe(2)
    }
  })

  test('a server that closes a kept connection just as it is asked loses that request, and only that', async () => {
    for (const close of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
      await using stand = await openStand((socket, _head, count) => {
        if (count === 2) close(socket)
        else socket.write(answer('ok'))
      })
      await stand.document()
      expect(await stand.ask()).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
      await stand.document()
      expect(stand.server.connectionCount).toBe(2)
      expect(stand.server.heads).toHaveLength(3)
    }
  })

  test('a server that closes its side after a whole answer is answered in kind, and asked on a new connection', async () => {
    await using stand = await openStand((socket) => void socket.end(answer('ok')))
    for (let i = 0; i < 3; i++) {
      await stand.document()
      await stand.server.until(() => stand.server.openConnections === 0)
      while (stand.fetcher.figures.clients > 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(stand.server.connectionCount).toBe(3)
  })

  test('two requests at once to one origin, against the rule, are both answered and leave one connection', async () => {
    await using stand = await openStand((socket, head) => void socket.write(answer(/ (\S+) /.exec(head)?.[1] ?? '')))
    const documents = await Promise.all([stand.document('/a'), stand.document('/b')])
    expect(documents.map((document) => Buffer.from(document.body.bytes()).toString())).toEqual(['/a', '/b'])
    await stand.server.until(() => stand.server.openConnections === 1)
    expect(stand.fetcher.figures.clients).toBe(1)
  })

  test('a server that closes after each answer is asked on a new connection', async () => {
    await using stand = await openStand((socket) =>
      socket.end(answer('ok', 'HTTP/1.1 200 OK\r\nConnection: close\r\n')),
    )
    for (let i = 0; i < 3; i++) await stand.document()
    expect(stand.server.connectionCount).toBe(3)
  })

  test('a request that fails takes its connection with it, and the next one has a new one', async () => {
    await using stand = await openStand((socket, _head, count) => {
      socket.write(count === 2 ? 'nonsense' : answer('ok'))
    })
    await stand.document()
    expect(await stand.ask()).toMatchObject({ kind: 'failed' })
    await stand.document()
    expect(stand.server.connectionCount).toBe(2)
    await stand.server.until(() => stand.server.openConnections === 1)
  })

  test('bytes that come before a request is written are not its answer', async () => {
    const sockets: Socket[] = []
    await using stand = await openStand((socket) => {
      sockets.push(socket)
      socket.write(answer('ok'))
    })
    await stand.document()
    // Right after the phase of the event loop in which requests are written: what is read comes first.
    await new Promise((resolve) => setImmediate(resolve))
    sockets[0]?.write(answer('EVIL'))
    expect(await stand.ask()).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
    expect(stand.server.heads).toHaveLength(1)
    await stand.document()
    expect(stand.server.connectionCount).toBe(2)
  })

  test('a request that is called off before it is written is never written', async () => {
    await using stand = await openStand(page)
    await stand.document()
    const asked = stand.ask()
    stand.controller.abort()
    expect(await asked).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
    await stand.server.until(() => stand.server.openConnections === 0)
    expect(stand.server.heads).toHaveLength(1)
  })

  test('bytes nobody asked for never become the next answer', async () => {
    await using stand = await openStand((socket, head) => {
      socket.write(Buffer.concat([answer(head.includes('/first') ? 'first' : 'second'), answer('EVIL')]))
    })
    expect(Buffer.from((await stand.document('/first')).body.bytes()).toString()).toBe('first')
    const next = await stand.ask('/second')
    if (next.kind === 'fetched') expect(Buffer.from(next.document.body.bytes()).toString()).toBe('second')
  })

  test('bytes nobody asked for end the connection they come on, early or late', async () => {
    for (const isLate of [false, true]) {
      await using stand = await openStand((socket) => {
        if (!isLate) socket.write(Buffer.concat([answer('ok'), Buffer.from('x')]))
        else socket.write(answer('ok'), () => setImmediate(() => socket.write('x')))
      })
      await stand.document()
      await stand.server.until(() => stand.server.openConnections === 0)
      expect(stand.fetcher.figures.clients).toBe(0)
    }
  })

  test('a host that is forgotten, and the longest unused beyond the bound, lose their connections', async () => {
    await using stand = await openStand(page, { connectionsKept: 3 })
    for (const last of [1, 2, 3, 4, 5])
      await stand.document('/', { host: `127.0.0.${last}`, addresses: [v4(`127.0.0.${last}`)] })
    expect(stand.fetcher.figures.clients).toBe(3)
    await stand.server.until(() => stand.server.openConnections === 3)
    stand.fetcher.forget('127.0.0.5')
    stand.fetcher.forget('127.0.0.1')
    await stand.server.until(() => stand.server.openConnections === 2)
    await stand.document('/', { host: '127.0.0.4', addresses: [v4('127.0.0.4')] })
    expect(stand.server.connectionCount).toBe(5)
  })

  test('a connection to an address the host no longer has is not used', async () => {
    await using stand = await openStand(page)
    const at = (ip: string): Promise<{ ip: string }> => stand.document('/', { host: 'moves.test', addresses: [v4(ip)] })
    expect((await at('127.0.0.1')).ip).toBe('127.0.0.1')
    expect((await at('127.0.0.2')).ip).toBe('127.0.0.2')
    await stand.document('/', { host: 'moves.test', addresses: [v4('127.0.0.9'), v4('127.0.0.2')] })
    expect(stand.server.connectionCount).toBe(2)
  })
})

describe('addresses', () => {
  test('the next address is tried when one refuses', async () => {
    await using stand = await openStand(page)
    // Nothing listens on the IPv6 loopback at this port: the server took the IPv4 addresses only.
    const document = await stand.document('/', {
      host: 'two.test',
      addresses: [{ ip: '::1', family: 6 }, v4('127.0.0.1')],
    })
    expect(document.ip).toBe('127.0.0.1')
  })

  test('the next address is tried when one takes too long, and each has its time', async () => {
    await using stand = await openStand(page, { connectTimeout: '10s', tls: 'accept-any' })
    // TLS to a server that speaks none: it accepts and waits for a head that never comes.
    const asked = stand.ask('/', { scheme: 'https', addresses: [v4('127.0.0.2'), v4('127.0.0.3')] })
    for (const count of [1, 2]) {
      await stand.server.until(() => stand.server.connectionCount === count)
      stand.clock.advance(10_100)
    }
    expect(await asked).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECT_TIMEOUT' })
    expect(stand.server.connectionCount).toBe(2)
  })

  test('private addresses are skipped unless allowed, however they are written', async () => {
    await using stand = await openStand(page, { allowPrivate: false })
    for (const address of [
      v4('127.0.0.1'),
      { ip: '::ffff:127.0.0.1', family: 6 as const },
      { ip: '::1', family: 6 as const },
    ]) {
      expect(await stand.ask('/', { host: 'rebound.test', addresses: [address] })).toMatchObject({
        kind: 'skipped',
        reason: 'private-address',
      })
    }
    expect(stand.server.connectionCount).toBe(0)
  })

  test('no address at all is a failure, not a hang', async () => {
    await using stand = await openStand(page)
    expect(await stand.ask('/', { addresses: [] })).toMatchObject({ kind: 'failed', code: 'DNS_NO_ADDRESS' })
  })
})

describe('a reset', () => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'
  test.each<[stage: string, bytes: string, outcome: object]>([
    ['before the head', '', { code: 'FETCH_CONNECTION_LOST' }],
    ['in the status line', 'HTTP/1', { code: 'FETCH_CONNECTION_LOST' }],
    ['in the head', head, { code: 'FETCH_CONNECTION_LOST' }],
    ['after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n', { code: 'FETCH_CONNECTION_LOST' }],
    ['after the head', `${head}Content-Length: 5\r\n\r\n`, { code: 'FETCH_BODY_SHORT' }],
    ['in the body', `${head}Content-Length: 5\r\n\r\nok`, { code: 'FETCH_BODY_SHORT' }],
    ['in a chunk size', `${head}Transfer-Encoding: chunked\r\n\r\n1`, { code: 'FETCH_BODY_SHORT' }],
    ['between chunks', `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, { code: 'FETCH_BODY_SHORT' }],
    ['in a body that only an end would end', `${head}\r\nok`, { code: 'FETCH_BODY_SHORT' }],
    ['after a whole answer', `${head}Content-Length: 2\r\n\r\nok`, { kind: 'fetched' }],
  ])('%s has its outcome', async (_stage, bytes, outcome) => {
    await using stand = await openStand((socket) => {
      // Once the bytes have been taken off the other end of the loopback: a reset overtakes those that are not.
      const reset = (): unknown => socket.resetAndDestroy()
      if (bytes === '') reset()
      else socket.write(bytes, () => setImmediate(() => setImmediate(reset)))
    })
    expect(await stand.ask()).toMatchObject(outcome)
    await stand.server.until(() => stand.server.openConnections === 0)
    while (stand.fetcher.figures.clients > 0) await new Promise((resolve) => setImmediate(resolve))
  })
})

describe('stopping', () => {
  test('a signal that aborts ends a request in any phase and destroys its socket', async () => {
    const phases: [name: string, bytes: string][] = [
      ['head', ''],
      ['body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
    ]
    for (const [, bytes] of phases) {
      await using stand = await openStand((socket) => socket.write(bytes))
      const asked = stand.ask()
      await stand.server.until(() => stand.server.heads.length === 1)
      stand.controller.abort()
      expect(await asked).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
      await stand.server.until(() => stand.server.openConnections === 0)
    }
  })

  test('a signal that aborts ends a connection being made', async () => {
    await using stand = await openStand(page)
    const asked = stand.ask('/', { scheme: 'https' })
    await stand.server.until(() => stand.server.connectionCount === 1)
    stand.controller.abort()
    expect(await asked).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('a signal that has aborted asks nobody', async () => {
    await using stand = await openStand(page)
    stand.controller.abort()
    expect(await stand.ask()).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECTION_LOST' })
    expect(stand.server.connectionCount).toBe(0)
  })

  test('closing ends what is under way and refuses what comes later', async () => {
    await using stand = await openStand(() => undefined)
    const asked = [1, 2, 3].map((last) =>
      stand.ask('/', { host: `127.0.0.${last}`, addresses: [v4(`127.0.0.${last}`)] }),
    )
    await stand.server.until(() => stand.server.heads.length === 3)
    await stand.fetcher.close()
    for (const outcome of await Promise.all(asked)) expect(outcome).toMatchObject({ code: 'FETCH_CONNECTION_LOST' })
    expect(await stand.ask()).toMatchObject({ code: 'FETCH_CONNECTION_LOST' })
  })
})
