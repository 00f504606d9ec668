// However an answer is cut into pieces, the same is read from it; and whatever the bytes, the listener
// hears of exactly one end.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AnswerHead } from './answer-head.ts'
import { type AnswerListener, AnswerReader } from './answer-reader.ts'

const HEAD_MAX = 2_000

/** Writes down what it is told, and wants at most `bodyMax` bytes. */
class Recorder implements AnswerListener {
  readonly #bodyMax: number
  readonly heads: AnswerHead[] = []
  readonly ends: string[] = []
  body = ''

  constructor(bodyMax = Infinity) {
    this.#bodyMax = bodyMax
  }

  onHead(head: AnswerHead): boolean {
    this.heads.push(head)
    return this.#say(head.status === 599 ? 'unwanted' : null)
  }
  onBody(source: Buffer, start: number, end: number): boolean {
    expect(end).toBeGreaterThan(start)
    this.body += source.toString('latin1', start, end)
    const isEnough = this.body.length >= this.#bodyMax
    this.body = this.body.slice(0, this.#bodyMax)
    return this.#say(isEnough ? 'enough' : null)
  }
  onEnd(): void {
    this.#say('whole')
  }
  onBroken(code: string): void {
    this.#say(code)
  }
  #say(end: string | null): boolean {
    expect(this.ends).toEqual([])
    if (end !== null) this.ends.push(end)
    return end === null
  }
}

/** Pieces come in one buffer that is overwritten each time, with old bytes behind them, as from a socket. */
function read(pieces: readonly Buffer[], bodyMax?: number): Recorder {
  const recorder = new Recorder(bodyMax)
  const reader = new AnswerReader(HEAD_MAX)
  const shared = Buffer.alloc(10_000, '\r\n')
  reader.expect(recorder)
  for (const piece of pieces) {
    piece.copy(shared)
    reader.read(shared, piece.length)
  }
  reader.readEnd()
  return recorder
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((start, i) => bytes.subarray(start, at[i] ?? bytes.length)).filter((piece) => piece.length > 0)
}

const word = fc.constantFrom(
  ...[
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.0 404 No\r\n',
    'HTTP/1.1 100 Go on\r\n\r\n',
    'HTTP/1.1 204 N\r\n',
    'HTTP/1.1 599 N\r\n',
  ],
  ...[
    '\r\n',
    '\r\n\r\n',
    '\n',
    '\n\n',
    '\r',
    ' ',
    '\t',
    ':',
    '\0',
    'HTTP',
    'http/1.1 201 \n',
    ' folded\r\n',
    'no colon\r\n',
  ],
  ...['Content-Length: 5\r\n', 'Content-Length: 0\n', 'Content-Length: 7, 7\r\n', 'Content-Length: x\r\n'],
  ...[
    'Transfer-Encoding: chunked\r\n',
    'transfer-encoding:\tgzip, Chunked\n',
    'Connection: close\r\n',
    `X: ${'y'.repeat(700)}\r\n`,
  ],
  ...[
    '5\r\nhello\r\n',
    '3;ext\r\nabc\r\n',
    '0\r\n\r\n',
    '0\r\nTrailer: x\r\n\r\n',
    'fffffffffffffff\r\n',
    'a b\r\n',
    'hello',
  ],
)
const soup = fc
  .tuple(
    fc.constantFrom('', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'),
    fc.array(fc.oneof({ weight: 6, arbitrary: word }, fc.string({ unit: 'binary-ascii', maxLength: 8 })), {
      maxLength: 14,
    }),
  )
  .map(([start, parts]) => Buffer.from(start + parts.join(''), 'latin1'))

test('any bytes in any pieces are read as if they had come at once', () => {
  fc.assert(
    fc.property(
      soup,
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.option(fc.integer({ min: 1, max: 8 })),
      (bytes, places, bodyMax) => {
        const whole = read([bytes], bodyMax ?? undefined)
        expect(whole.ends).toHaveLength(1)
        expect(whole.heads.length).toBeLessThanOrEqual(1)
        expect(read(cut(bytes, places), bodyMax ?? undefined)).toEqual(whole)
      },
    ),
    { numRuns: 5_000 },
  )
})

test('byte by byte is read like at once', () => {
  fc.assert(
    fc.property(soup, (bytes) => {
      expect(read(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)))).toEqual(read([bytes]))
    }),
    { numRuns: 1_000 },
  )
})

describe('a head', () => {
  const ending = (text: string): string => {
    const recorder = read([Buffer.from(text)])
    return recorder.ends[0] ?? ''
  }
  const sized = (bytes: number): string => {
    const start = 'HTTP/1.1 204 N\r\nX: '
    return `${start}${'y'.repeat(bytes - start.length - 4)}\r\n\r\n`
  }

  test('at its limit is taken, one byte more is not', () => {
    expect(ending(sized(HEAD_MAX))).toBe('whole')
    expect(ending(sized(HEAD_MAX + 1))).toBe('FETCH_HEAD_TOO_LONG')
  })

  test('that cannot become one is known before it ends', () => {
    for (const start of ['<', 'HTM', 'SSH-2.0-x', '\r\n\r\n<p>', '\0', 'HTT\n']) {
      const recorder = new Recorder()
      const reader = new AnswerReader(HEAD_MAX)
      reader.expect(recorder)
      reader.read(Buffer.from(start), start.length)
      expect(recorder.ends).toEqual(['FETCH_HEAD_MALFORMED'])
    }
  })

  test('of an interim answer is not the answer, and there are not endlessly many', () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'
    expect(ending(`${interim.repeat(20)}HTTP/1.1 204 N\r\n\r\n`)).toBe('whole')
    expect(ending(`${interim.repeat(21)}HTTP/1.1 204 N\r\n\r\n`)).toBe('FETCH_HEAD_MALFORMED')
    expect(ending(interim)).toBe('FETCH_CONNECTION_LOST')
  })
})

describe('a connection', () => {
  const isReusable = (text: string): boolean | null => {
    let found: boolean | null = null
    const reader = new AnswerReader(HEAD_MAX)
    reader.expect({
      onHead: () => true,
      onBody: () => true,
      onEnd: (isGood) => void (found = isGood),
      onBroken: () => undefined,
    })
    reader.read(Buffer.from(text), text.length)
    return found
  }

  test.each<[text: string, expected: boolean | null]>([
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', true],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n', true],
    ['HTTP/1.1 304 N\r\n\r\n', true],
    ['HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok', true],
    ['HTTP/1.1 200 OK\r\nConnection: upgrade, keep-alive\r\nContent-Length: 2\r\n\r\nok', true],
    ['HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', false],
    ['HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 2\r\n\r\nok', false],
    ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!', false],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\r\n', false],
    ['HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\nhello', false],
    // Only the end of the connection ends these.
    ['HTTP/1.1 200 OK\r\n\r\nok', null],
    ['HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok', null],
  ])('after %j is reusable: %s', (text, expected) => {
    expect(isReusable(text)).toBe(expected)
  })
})
