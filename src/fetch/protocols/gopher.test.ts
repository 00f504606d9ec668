// Gopher against a server that says what each test has it say.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openTalkStand, type TalkStand } from '../../../test/talk-stand.ts'

let closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
  closing = []
})

interface Hole {
  readonly stand: TalkStand
  readonly at: string
  readonly selectors: string[]
}

async function dig(answer: (socket: Socket, selector: string) => unknown, options: object = {}): Promise<Hole> {
  const selectors: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('data', (bytes: Buffer) => {
      selectors.push(bytes.toString('latin1'))
      answer(socket, bytes.toString('latin1').trimEnd())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const stand = openTalkStand(options)
  closing.push(async () => stand[Symbol.asyncDispose]())
  return { stand, selectors, at: `gopher://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('the first character is the kind, the rest the selector, byte by byte', async () => {
  const { stand, at, selectors } = await dig((socket) => socket.end('x'))
  for (const path of ['/', '/1', '/0/a%20b', '/9/caf%E9', '/7/find%09words', '/1/a?b=c', '/I/p.png']) {
    await stand.document(`${at}${path}`)
  }
  expect(selectors).toEqual([
    '\r\n',
    '\r\n',
    '/a b\r\n',
    '/caf\xe9\r\n',
    '/find\twords\r\n',
    '/a?b=c\r\n',
    '/p.png\r\n',
  ])
})

test.each([
  ['/', 'application/gopher-menu'],
  ['/1/x', 'application/gopher-menu'],
  ['/0/x.html', 'text/plain'],
  ['/h/x', 'text/html'],
  ['/g/x', 'image/gif'],
  ['/I/x.jpg', 'image/jpeg'],
  ['/9/x.zip', 'application/zip'],
  ['/9/x', null],
])('%s is of type %s', async (path, mediaType) => {
  const { stand, at } = await dig((socket) => socket.end('x'))
  expect(await stand.document(`${at}${path}`)).toMatchObject({
    status: 200,
    mediaType,
    httpVersion: null,
    ip: '127.0.0.1',
    truncated: null,
  })
})

test('a selector with a line end is never sent: it would be words of ours to any server', async () => {
  const { stand, at, selectors } = await dig((socket) => socket.end('x'))
  for (const path of ['/0a%0D%0AHELO%20x', '/0%0A', '/0%00']) {
    expect(await stand.ask(`${at}${path}`)).toMatchObject({ kind: 'failed', code: 'FETCH_NOT_AVAILABLE' })
  }
  expect(selectors).toEqual([])
})

test('an answer that is one error is a failure that says it; a menu with an error in it is a menu', async () => {
  const error = "3'/x' does not exist\t\terror.host\t1\r\n"
  const { stand, at } = await dig((socket, selector) =>
    socket.end(selector === '/x' ? `${error}.\r\n` : `1A\t/a\th\t70\r\n${error}`),
  )
  expect(await stand.ask(`${at}/0/x`)).toMatchObject({
    kind: 'failed',
    code: 'FETCH_NOT_AVAILABLE',
    detail: "'/x' does not exist",
  })
  await stand.document(`${at}/1/y`)
})

test('what is not wanted by its type is not asked for, menus excepted', async () => {
  const { stand, at, selectors } = await dig((socket) => socket.end('x'), { acceptTypes: ['text/html'] })
  expect(await stand.ask(`${at}/g/x`)).toMatchObject({ kind: 'skipped', reason: 'type-filtered' })
  await stand.document(`${at}/1/x`)
  expect(selectors).toEqual(['/x\r\n'])
})

test('a server that never answers stalls', async () => {
  const { stand, at } = await dig(() => undefined, { requestTimeout: '1000h' })
  const asked = stand.ask(`${at}/0/x`)
  await stand.passTime(asked, 5_000)
  expect(await asked).toMatchObject({ kind: 'failed', code: 'FETCH_BODY_STALLED' })
})

test('a server that does not close has said all when it has said a dot', async () => {
  const { stand, at } = await dig(
    (socket, selector) => socket.write(selector === '/whole' ? 'iHello\t\t\t0\r\n.\r\n' : 'iHello\t\t\t0\r\n'),
    { requestTimeout: '1000h' },
  )
  for (const [path, outcome] of [
    ['/1/whole', { kind: 'fetched', document: { truncated: null } }],
    ['/1/half', { kind: 'failed', code: 'FETCH_BODY_STALLED' }],
  ] as const) {
    const asked = stand.ask(`${at}${path}`)
    await stand.passTime(asked, 5_000)
    expect(await asked).toMatchObject(outcome)
  }
})

test('a server that never ends is cut at the limit', async () => {
  const { stand, at } = await dig((socket) => void socket.write(Buffer.alloc(500_000)), { bodyMax: '100KiB' })
  expect(await stand.document(`${at}/9/x`)).toMatchObject({ truncated: 'length', body: { length: 102_400 } })
})

test('a connection that breaks is a short body, or half of one where that will do', async () => {
  const { stand, at } = await dig((socket) => socket.write('half', () => socket.resetAndDestroy()))
  expect(await stand.ask(`${at}/0/x`)).toMatchObject({ kind: 'failed', code: 'FETCH_BODY_SHORT' })
  expect(await stand.ask(`${at}/0/x`, { acceptPartial: true })).toMatchObject({
    kind: 'fetched',
    document: { truncated: 'disconnect' },
  })
})

test('private addresses and servers that are not there have their names', async () => {
  const { stand, at } = await dig((socket) => socket.end('x'), { allowPrivate: false })
  expect(await stand.ask(`${at}/`)).toMatchObject({ kind: 'skipped', reason: 'private-address' })
  await using other = openTalkStand()
  expect(await other.ask('gopher://127.0.0.1:1/')).toMatchObject({ code: 'FETCH_CONNECT_REFUSED' })
})
