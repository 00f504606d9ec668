// Answers that were right once: valid ones of every framing and coding, and, where they are present, those that
// other clients are tested with, changed at random and cut into packets at random. Each has an outcome, the same
// however it was cut, and nothing stays open.
//
//   npm run fuzz:http                     a hundred thousand of them, some minutes
//   PORTOLAN_FUZZ_SEED=7 npm run fuzz:http   others

import * as zlib from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Socket } from 'node:net'
import { openStand, type Stand } from '../../../test/fetch-stand.ts'
import { readMaterial } from '../../../test/material.ts'
import { Random } from '../../base/index.ts'

/** Enough to notice what breaks always; the long run is for what breaks seldom. */
const ANSWERS_IN_SHORT = 600
const ANSWERS = Number(process.env['PORTOLAN_FUZZ_ANSWERS'] ?? ANSWERS_IN_SHORT)
const SEED = process.env['PORTOLAN_FUZZ_SEED'] ?? 'portolan'
/** Every so many an answer is asked for twice, cut differently. */
const TWICE_EVERY = 4
const PIECES_MAX = 5

const TOKENS = [
  ...['\r\n', '\r\n\r\n', '\n', '\r', '\0', ':', ' ', '\t', ';', ',', '0\r\n\r\n', 'ffffffff\r\n', '-1', '1e9'],
  ...[
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 304 X\r\n',
    'HTTP/1.1 302 X\r\nLocation: /a\r\n',
  ],
  ...['Content-Length: 5\r\n', 'Content-Length: 99999999999999999999\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['Transfer-Encoding: gzip, chunked\r\n', 'Content-Encoding: gzip\r\n', 'Content-Encoding: br, zstd, x\r\n'],
  ...[
    'Content-Type: text/html;;"\r\n',
    'Connection: close\r\n',
    'Location: /b\r\n',
    '__proto__: x\r\n',
    '\x1f\x8b\x08',
  ],
].map((token) => Buffer.from(token, 'latin1'))

function validAnswers(): Buffer[] {
  const body = Buffer.from('<!DOCTYPE html><title>A page</title><p>'.concat('with some text in it. '.repeat(40)))
  const codings: readonly (readonly [string, Buffer])[] = [
    ['', body],
    ['gzip', zlib.gzipSync(body)],
    ['deflate', zlib.deflateSync(body)],
    ['br', zlib.brotliCompressSync(body)],
    ['zstd', zlib.zstdCompressSync(body)],
    ['gzip, br', zlib.brotliCompressSync(zlib.gzipSync(body))],
  ]
  return codings.flatMap(([coding, bytes]) => {
    const head = `HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/html\r\n${coding === '' ? '' : `Content-Encoding: ${coding}\r\n`}`
    const middle = bytes.length >> 1
    const chunks = [bytes.subarray(0, middle), bytes.subarray(middle)].flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)};x=y\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ])
    return [
      Buffer.concat([Buffer.from(`${head}Content-Length: ${bytes.length}\r\n\r\n`), bytes]),
      Buffer.concat([Buffer.from(`${head}Connection: close\r\n\r\n`), bytes]),
      Buffer.concat([
        Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
        ...chunks,
        Buffer.from('0\r\nX: y\r\n\r\n'),
      ]),
    ]
  })
}

interface Material {
  readonly cases?: readonly { readonly bytes?: string }[]
  readonly tests?: readonly {
    readonly responseBytes?: string
    readonly replies?: readonly { readonly text?: string }[]
  }[]
}

function answersOfOthers(): Buffer[] {
  const texts: (string | undefined)[] = []
  for (const file of ['nasty-servers.json', 'curl-http-tests.json', 'llhttp-response-tests.json']) {
    const material = readMaterial<Material>('http', file)
    for (const one of material?.cases ?? []) texts.push(one.bytes)
    for (const one of material?.tests ?? [])
      texts.push(one.responseBytes, ...(one.replies ?? []).map(({ text }) => text))
  }
  return texts.filter((text) => text !== undefined && text !== '').map((text) => Buffer.from(text ?? '', 'latin1'))
}

/** One change: a byte, a piece lost, a piece twice, a word put in, an early end, or another answer from here on. */
function change(bytes: Buffer, all: readonly Buffer[], random: Random): Buffer {
  const at = random.below(bytes.length + 1)
  const end = Math.min(bytes.length, at + random.below(20))
  const insert = (piece: Uint8Array): Buffer => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
  switch (random.below(7)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    case 1:
      return insert(bytes.subarray(at, end))
    case 2:
      return insert(TOKENS[random.below(TOKENS.length)] as Buffer)
    case 3:
      return bytes.subarray(0, at)
    case 4: {
      const other = all[random.below(all.length)] as Buffer
      return Buffer.concat([bytes.subarray(0, at), other.subarray(random.below(other.length))])
    }
    default: {
      const copy = Buffer.from(bytes)
      if (at < copy.length) copy[at] = random.below(256)
      return copy
    }
  }
}

function cut(bytes: Buffer, random: Random): Buffer[] {
  const places = Array.from({ length: random.below(PIECES_MAX) }, () => random.below(bytes.length + 1))
  places.sort((a, b) => a - b)
  return [0, ...places].map((start, i) => bytes.subarray(start, places[i] ?? bytes.length))
}

/** Pieces in different turns of the event loop, then the end. */
function send(socket: Socket, pieces: readonly Buffer[]): void {
  const [first, ...rest] = pieces
  if (first === undefined || socket.destroyed) socket.end()
  else socket.write(first, () => setImmediate(() => send(socket, rest)))
}

let stand: Stand
let pieces: readonly Buffer[] = []
beforeAll(async () => {
  stand = await openStand((socket) => send(socket, pieces), { keepAlive: '0ms', bodyMax: '1MiB' })
})
afterAll(() => stand[Symbol.asyncDispose]())

/** What came of it, in one line. */
async function ask(bytes: readonly Buffer[], acceptPartial: boolean): Promise<string> {
  pieces = bytes
  const outcome = await stand.ask('/', { acceptPartial })
  expect(stand.fetcher.figures.underWay).toBe(0)
  if (outcome.kind === 'failed') return outcome.code
  if (outcome.kind === 'skipped') return outcome.reason
  const { status, decoding, truncated, body } = outcome.document
  const line = `${status} ${decoding} ${truncated ?? 'whole'} ${body.length}`
  outcome.document.release()
  return line
}

test(
  `${ANSWERS} changed answers have an outcome each`,
  async () => {
    const random = new Random(SEED)
    const all = [...validAnswers(), ...answersOfOthers()]
    const outcomes = new Map<string, number>()
    for (let i = 0; i < ANSWERS; i++) {
      let bytes = all[random.below(all.length)] as Buffer
      for (let changes = random.below(6); changes > 0; changes--) bytes = change(bytes, all, random)
      const acceptPartial = random.below(2) === 0
      const outcome = await ask(cut(bytes, random), acceptPartial)
      const name = outcome.split(' ', 3).join(' ')
      outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
      if (i % TWICE_EVERY !== 0) continue
      // What is not wanted may be seen before or after the connection ends.
      const again = await ask(cut(bytes, random), acceptPartial)
      expect(again, JSON.stringify(bytes.toString('latin1'))).toBe(outcome)
    }
    expect(outcomes.size).toBeGreaterThan(10)
    if (ANSWERS > ANSWERS_IN_SHORT) console.log(Object.fromEntries([...outcomes].sort(([, a], [, b]) => b - a)))
  },
  ANSWERS * 50 + 30_000,
)
