// HEAD: the head of an answer and no more, whatever the server sends behind it.

import { expect, test } from 'vitest'
import { always, openStand } from '../../../test/fetch-stand.ts'

const head = (more: string, status = '200 OK'): string => `HTTP/1.1 ${status}\r\n${more}\r\n`
const HEAD = { method: 'HEAD' } as const

test.each([
  ['a length', head('Content-Length: 5000\r\nContent-Encoding: gzip\r\n')],
  ['chunks', head('Transfer-Encoding: chunked\r\n')],
  ['nothing', head('')],
])('an answer that announces %s is whole with its head, and the connection goes on', async (_what, bytes) => {
  await using stand = await openStand(always(bytes))
  for (const path of ['/a', '/b']) {
    const document = await stand.document(path, HEAD)
    expect(document).toMatchObject({ status: 200, truncated: null })
    expect(document.body.length).toBe(0)
    expect(document.requestHead.startsWith(`HEAD ${path} HTTP/1.1\r\n`)).toBe(true)
  }
  expect(stand.server.connectionCount).toBe(1)
})

test.each([
  ['with its head', head('Content-Length: 4\r\n') + 'body'],
  ['in chunks', `${head('Transfer-Encoding: chunked\r\n')}4\r\nbody\r\n0\r\n\r\n`],
])('a server that sends a body %s loses its connection', async (_what, bytes) => {
  await using stand = await openStand(always(bytes))
  expect((await stand.document('/', HEAD)).body.length).toBe(0)
  expect((await stand.document('/', HEAD)).body.length).toBe(0)
  expect(stand.server.connectionCount).toBe(2)
})

test('a body that comes later does the same, and is nobody’s answer', async () => {
  let later = (): void => {}
  await using stand = await openStand((socket, _head, count) => {
    socket.write(head('Content-Length: 4\r\n'))
    if (count === 1) later = () => void socket.write('body')
  })
  await stand.document('/', HEAD)
  later()
  await stand.server.until(() => stand.server.openConnections === 0)
  expect((await stand.document('/', HEAD)).status).toBe(200)
})

test('what is not wanted is skipped, and the connection goes on', async () => {
  await using stand = await openStand(always(head('Content-Type: video/mp4\r\nContent-Length: 9\r\n')), {
    rejectTypes: ['video/*'],
  })
  for (let i = 0; i < 2; i++) {
    expect(await stand.ask('/', HEAD)).toEqual({ kind: 'skipped', reason: 'type-filtered', detail: 'video/mp4' })
  }
  expect(stand.server.connectionCount).toBe(1)
})

test('what is too large is skipped', async () => {
  await using stand = await openStand(always(head('Content-Length: 2049\r\n')), { announcedMax: '2KiB' })
  expect(await stand.ask('/', HEAD)).toMatchObject({ kind: 'skipped', reason: 'size-filtered' })
})

test('a refusal of HEAD says nothing about the page', async () => {
  await using stand = await openStand(always(head('Content-Type: video/mp4\r\n', '405 No')), {
    rejectTypes: ['video/*'],
  })
  expect(await stand.ask('/', HEAD)).toMatchObject({ kind: 'fetched' })
})
