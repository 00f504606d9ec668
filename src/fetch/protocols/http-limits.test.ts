// Every limit: where it is, what comes of reaching it, and that it is not reached a moment too early.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { always, answer, openStand, type Stand } from '../../../test/fetch-stand.ts'
import { Fault } from '../../base/index.ts'
import type { FetchOutcome } from '../fetcher.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n'

/** Lets what is on the loopback arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Moves the clock to just before a limit, where nothing must have happened, and then beyond it. */
async function across(stand: Stand, limitMs: number, asked: Promise<FetchOutcome>): Promise<FetchOutcome> {
  let outcome: FetchOutcome | null = null
  void asked.then((found) => (outcome = found))
  await settle()
  stand.clock.advance(limitMs - 1)
  await settle()
  expect(outcome).toBeNull()
  stand.clock.advance(101)
  return asked
}

describe('time', () => {
  test('a host that accepts and says nothing fails at the end of headTimeout', async () => {
    await using stand = await openStand(() => undefined, { headTimeout: '30s' })
    const asked = stand.ask()
    await stand.server.until(() => stand.server.heads.length === 1)
    expect(await across(stand, 30_000, asked)).toMatchObject({ kind: 'failed', code: 'FETCH_HEAD_TIMEOUT' })
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('a head that comes a byte at a time fails at the end of headTimeout too', async () => {
    await using stand = await openStand((socket) => socket.write('HTTP/1.1 200 OK\r\nX: '), { headTimeout: '5s' })
    const asked = stand.ask()
    await stand.server.until(() => stand.server.heads.length === 1)
    expect(await across(stand, 5_000, asked)).toMatchObject({ kind: 'failed', code: 'FETCH_HEAD_TIMEOUT' })
  })

  test('a body that stops arriving fails at the end of stallTimeout', async () => {
    await using stand = await openStand((socket) => socket.write(`${OK}Content-Length: 9\r\n\r\nhalf`))
    const asked = stand.ask()
    await stand.server.until(() => stand.server.heads.length === 1)
    expect(await across(stand, 30_000, asked)).toMatchObject({ kind: 'failed', code: 'FETCH_BODY_STALLED' })
  })

  test('a body that stops arriving is cut by time when half is better than none', async () => {
    await using stand = await openStand((socket) => socket.write(`${OK}Content-Length: 9\r\n\r\nhalf`))
    const asked = stand.ask('/', { acceptPartial: true })
    await stand.server.until(() => stand.server.heads.length === 1)
    const outcome = await across(stand, 30_000, asked)
    expect(outcome.kind === 'fetched' && outcome.document).toMatchObject({ truncated: 'time', wireTruncated: 'time' })
  })

  test('a body that trickles for ever is cut and kept at the end of requestTimeout', async () => {
    let write = (): void => undefined
    await using stand = await openStand(
      (socket) => {
        write = () => void socket.write('x')
        socket.write(`${OK}\r\n`)
      },
      { requestTimeout: '1m', stallTimeout: '10s' },
    )
    const asked = stand.ask()
    await stand.server.until(() => stand.server.heads.length === 1)
    for (let second = 0; second <= 60; second += 5) {
      write()
      await settle()
      stand.clock.advance(5_000)
    }
    const outcome = await asked
    expect(outcome.kind === 'fetched' && outcome.document).toMatchObject({ truncated: 'time', status: 200 })
    expect(outcome.kind === 'fetched' && outcome.document.body.length).toBeGreaterThan(8)
  })

  test('a request without an answer fails at the end of requestTimeout, whatever headTimeout says', async () => {
    await using stand = await openStand(() => undefined, { requestTimeout: '10s', headTimeout: '1h' })
    const asked = stand.ask()
    await stand.server.until(() => stand.server.heads.length === 1)
    expect(await across(stand, 10_000, asked)).toMatchObject({ kind: 'failed', code: 'FETCH_TIMEOUT' })
  })
})

describe('size', () => {
  test('a body at bodyMax is whole, one byte more is cut, and its connection is closed', async () => {
    await using stand = await openStand(
      (socket, head) => socket.write(answer('x'.repeat(head.includes('/fits') ? 100 : 101))),
      { bodyMax: '100B' },
    )
    expect(await stand.document('/fits')).toMatchObject({ truncated: null, body: { length: 100 } })
    expect(await stand.document('/exceeds')).toMatchObject({
      truncated: 'length',
      wireTruncated: 'length',
      body: { length: 100 },
    })
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('a body without end is cut', async () => {
    await using stand = await openStand(
      (socket) => {
        socket.write(`${OK}\r\n`)
        const pour = (): void => {
          while (!socket.destroyed && socket.write('x'.repeat(10_000)));
        }
        socket.on('drain', pour)
        pour()
      },
      { bodyMax: '1MiB' },
    )
    expect(await stand.document()).toMatchObject({ truncated: 'length', body: { length: 2 ** 20 } })
  })

  test('robots.txt has its own limit and no filters', async () => {
    await using stand = await openStand(always(answer('x'.repeat(600))), {
      robotsMax: '512B',
      bodyMax: '100B',
      acceptTypes: ['image/png'],
    })
    expect(await stand.document('/robots.txt', { purpose: 'robots' })).toMatchObject({
      truncated: 'length',
      body: { length: 512 },
    })
  })

  test('a body that decompresses beyond all reason is cut', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    await using stand = await openStand(always(answer(bomb, `${OK}Content-Encoding: gzip\r\n`)), {
      ratioMax: 100,
      ratioFrom: '1MiB',
    })
    const document = await stand.document()
    expect(document).toMatchObject({ truncated: 'length', wireTruncated: null, decoding: 'decoded' })
    expect(document.body.length).toBe(Math.max(2 ** 20, 100 * bomb.length))
    expect(Buffer.from(document.wire.bytes())).toEqual(bomb)
  })

  test('decodedMax holds however gently a body was compressed', async () => {
    const body = gzipSync(Buffer.from(Array.from({ length: 3_000 }, (_, i) => `line ${i * 7919}\n`).join('')))
    await using stand = await openStand(always(answer(body, `${OK}Content-Encoding: gzip\r\n`)), {
      decodedMax: '10000B',
    })
    expect(await stand.document()).toMatchObject({ truncated: 'length', body: { length: 10_000 } })
  })
})

describe('filters', () => {
  test.each<[options: object, type: string, isWanted: boolean]>([
    [{ acceptTypes: ['text/*'] }, 'text/css', true],
    [{ acceptTypes: ['text/*'] }, 'Text/HTML; charset=x', true],
    [{ acceptTypes: ['text/*'] }, 'image/png', false],
    [{ acceptTypes: ['text/html', 'application/pdf'] }, 'application/pdf', true],
    [{ acceptTypes: ['*/*'], rejectTypes: ['video/*'] }, 'video/mp4', false],
    [{ rejectTypes: ['video/*'] }, 'text/html', true],
    [{ acceptTypes: ['text/*'], rejectTypes: ['text/css'] }, 'text/css', false],
    [{ acceptTypes: ['text/*'] }, 'nonsense', true],
  ])('%j meets %s', async (options, type, isWanted) => {
    await using stand = await openStand(always(answer('x', `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n`)), options)
    expect(await stand.ask()).toMatchObject(
      isWanted ? { kind: 'fetched' } : { kind: 'skipped', reason: 'type-filtered' },
    )
  })

  test('an answer that announces too much is skipped, and its connection not drained', async () => {
    await using stand = await openStand((socket) => socket.write(`${OK}Content-Length: 2000\r\n\r\n`), {
      announcedMax: '1999B',
    })
    expect(await stand.ask()).toMatchObject({
      kind: 'skipped',
      reason: 'size-filtered',
      detail: '2000 bytes announced',
    })
    await stand.server.until(() => stand.server.openConnections === 0)
  })

  test('only successes are filtered: an error page of any type is an answer', async () => {
    await using stand = await openStand(always(answer('x', 'HTTP/1.1 404 No\r\nContent-Type: image/png\r\n')), {
      acceptTypes: ['text/*'],
    })
    expect(await stand.ask()).toMatchObject({ kind: 'fetched' })
  })
})

test('a disk that refuses is a fault of ours, not an outcome of the web', async () => {
  await using stand = await openStand(always(answer(Buffer.alloc(100_000))))
  // A file stands where the directory should be.
  rmSync(stand.spoolDirectory, { recursive: true })
  writeFileSync(stand.spoolDirectory, '')
  await expect(stand.ask()).rejects.toThrow(Fault)
  rmSync(stand.spoolDirectory)
  mkdirSync(stand.spoolDirectory)
  await stand.server.until(() => stand.server.openConnections === 0)
})
