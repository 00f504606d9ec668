// Answers that other clients are tested with: never a throw, never a hang, and what becomes of each is what
// the other client says, or stands here with its reason.

import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { once, openStand, type Stand } from '../fetch-stand.ts'
import { readMaterial } from '../material.ts'

/** What an answer comes to: whole as it says, kept with a mark, or nothing. */
type Judgement = 'whole' | 'marked' | 'refused'

interface Reply {
  readonly part: string
  readonly text?: string
  readonly base64?: string
  readonly gzipBase64?: string
}
interface CurlTest {
  readonly test: number
  readonly name: string
  readonly replies: readonly Reply[]
  readonly curlExit: string
}
interface LlhttpTest {
  readonly file: string
  readonly name: string
  readonly responseBytes: string
  readonly strictParserError: unknown
}

let stand: Stand
let bytes: Buffer = Buffer.alloc(0)
beforeAll(async () => {
  stand = await openStand((socket) => once(bytes)(socket, '', 1), { keepAlive: '0ms' })
})
afterAll(() => stand[Symbol.asyncDispose]())

async function judge(answer: Buffer): Promise<Judgement> {
  bytes = answer
  const outcome = await stand.ask()
  expect(stand.fetcher.figures.underWay).toBe(0)
  if (outcome.kind !== 'fetched') return 'refused'
  const { decoding, truncated } = outcome.document
  return (decoding === 'none' || decoding === 'decoded') && truncated === null ? 'whole' : 'marked'
}

function bytesOf({ text, base64, gzipBase64 }: Reply): Buffer {
  if (base64 !== undefined) return Buffer.from(base64, 'base64')
  if (gzipBase64 !== undefined) return gunzipSync(Buffer.from(gzipBase64, 'base64'))
  return Buffer.from(text ?? '', 'latin1')
}

// The test of curl is about something that is not in the answer: an option, a limit, a method, a redirect followed.
const OPTION = 'an option of the test decides'
const HEAD = 'the test asks by HEAD; we ask by GET'
const ZERO_NINE = 'curl is told to take HTTP/0.9, which we never do'
const BROWSERS = 'refused by curl, taken by browsers and by us'
const AGAINST_CURL: Readonly<Record<number, readonly [Judgement, string]>> = {
  25: ['whole', OPTION],
  29: ['whole', OPTION],
  189: ['whole', OPTION],
  269: ['refused', 'curl is told to ignore the length'],
  274: ['whole', OPTION],
  293: ['whole', OPTION],
  303: ['whole', OPTION],
  325: ['whole', OPTION],
  457: ['whole', OPTION],
  1261: ['whole', OPTION],
  1563: ['whole', 'where a redirect may lead is judged later'],
  1618: ['whole', OPTION],
  514: ['refused', HEAD],
  1032: ['refused', HEAD],
  1484: ['refused', HEAD],
  66: ['refused', ZERO_NINE],
  306: ['refused', ZERO_NINE],
  1164: ['refused', ZERO_NINE],
  1266: ['refused', ZERO_NINE],
  1267: ['refused', ZERO_NINE],
  129: ['whole', `a version that does not exist: ${BROWSERS}`],
  1433: ['whole', `a version that does not exist: ${BROWSERS}`],
  178: ['whole', `a length that is none: ${BROWSERS}`],
  394: ['whole', `a length that is none: ${BROWSERS}`],
  415: ['whole', `a length that is none: ${BROWSERS}`],
  395: ['refused', 'a length above announcedMax is skipped'],
  398: ['whole', `a line without a colon: ${BROWSERS}`],
  772: ['whole', 'two places to go matter on redirects only; this is a 200'],
  1479: ['whole', 'what comes behind an answer is dropped with its connection'],
  1546: ['whole', 'an empty body in chunks, under gzip: nothing to undo'],
  2105: ['whole', `a carriage return in a header is a blank (RFC 9112 §2.2): ${BROWSERS}`],
  2106: ['whole', 'trailers are dropped unread'],
  2305: ['whole', 'several members of gzip are one body (RFC 1952 §2.2)'],
  1556: ['refused', 'more than headMax of head'],
}

const curl = readMaterial<{ tests: readonly CurlTest[] }>('http', 'curl-http-tests.json')
describe.skipIf(curl === null)(`answers of curl's tests${curl === null ? ' (material not present)' : ''}`, () => {
  test.each((curl?.tests ?? []).map((one) => [one.test, one.name, one] as const))('%d %s', async (number, _, one) => {
    const reply = one.replies.find(({ part }) => part === 'data') ?? one.replies[0]
    const judgement = await judge(reply === undefined ? Buffer.alloc(0) : bytesOf(reply))
    const [expected, reason] = AGAINST_CURL[number] ?? []
    if (expected !== undefined) expect(judgement, reason).toBe(expected)
    else if (one.curlExit === '0') expect(judgement).toBe('whole')
    else expect(judgement).not.toBe('whole')
  })

  test('no difference is listed that is none', () => {
    const known = new Map(curl?.tests.map((one) => [one.test, one.curlExit === '0']))
    for (const [number, [judgement]] of Object.entries(AGAINST_CURL)) {
      expect(known.get(Number(number)), number).toBe(judgement !== 'whole')
    }
  })
})

// What a strict parser refuses and browsers take. Its version field tells us nothing, so odd ones are taken too.
const VERSION = 'the version of an answer is taken as it comes'
const CARRIAGE_RETURN = 'a carriage return that ends no line is a blank (RFC 9112 §2.2)'
const LINE_FEED = 'a line feed alone ends a line (RFC 9112 §2.2)'
const BEHIND = 'what comes behind an answer is dropped with its connection'
const CHUNKED_FIRST = 'chunked named anywhere means chunks, as in browsers; these are none'
const AGAINST_LLHTTP: Readonly<Record<string, readonly [Judgement, string]>> = {
  'connection: HTTP/1.1 with keep-alive disabled and 204 status': ['whole', BEHIND],
  'connection: HTTP/1.1 with keep-alive disabled, content-length': ['whole', BEHIND],
  'connection: HTTP 103 first, then 200': ['refused', 'the body is one byte short as it stands there'],
  'content-length: Content-Length reset when no body is received': ['refused', 'the body is another head, and short'],
  'content-length: Tabs in `Content-Length` (surrounding)': ['refused', 'a head, and none of its 42 bytes'],
  'invalid: Extra digit in HTTP major version': ['whole', VERSION],
  'invalid: Extra digit in HTTP major version #2': ['whole', VERSION],
  'invalid: Extra digit in HTTP minor version': ['whole', VERSION],
  'invalid: Invalid HTTP version': ['whole', VERSION],
  'invalid: Tab after HTTP version': ['whole', 'blanks of any kind and number part the first line'],
  'invalid: CR before response and tab after HTTP version': [
    'whole',
    'blanks of any kind and number part the first line',
  ],
  'invalid: Extra space between HTTP version and status code': [
    'whole',
    'blanks of any kind and number part the first line',
  ],
  'invalid: Headers separated by CR': ['whole', CARRIAGE_RETURN],
  'invalid: Bare CR after response line': ['whole', CARRIAGE_RETURN],
  'invalid: Bare CR followed by CR after response line': ['whole', CARRIAGE_RETURN],
  'invalid: Only LFs present and no body': ['whole', LINE_FEED],
  'invalid: Only LFs present': ['whole', LINE_FEED],
  'sample: No carriage ret': ['whole', LINE_FEED],
  'sample: RTSP response': ['refused', 'another protocol'],
  'sample: ICE response': ['refused', 'another protocol'],
  'sample: Google 301': ['marked', 'a redirect whose body is short as it stands there'],
  'sample: Spaces in header name': ['whole', 'a name is what stands before the colon'],
  'transfer-encoding: Trailing space on chunked body': ['whole', 'blanks behind a chunk size are passed over'],
  'transfer-encoding: `chunked` before other transfer-encoding': ['refused', CHUNKED_FIRST],
  'transfer-encoding: multiple transfer-encoding where chunked is not the last one': ['refused', CHUNKED_FIRST],
  'transfer-encoding: `chunkedchunked` transfer-encoding does not enable chunked enconding': [
    'marked',
    'an unknown coding',
  ],
  'transfer-encoding: No extension after semicolon': ['whole', 'extensions are passed over unread'],
  'transfer-encoding: Chunk extensions quoting': ['refused', 'the end of the last chunk is missing as it stands there'],
  'transfer-encoding: Invalid OBS fold after chunked value': ['marked', 'folded, it names a coding nobody knows'],
}

const llhttp = readMaterial<{ tests: readonly LlhttpTest[] }>('http', 'llhttp-response-tests.json')
describe.skipIf(llhttp === null)(`answers of llhttp's tests${llhttp === null ? ' (material not present)' : ''}`, () => {
  test.each((llhttp?.tests ?? []).map((one) => [`${one.file}: ${one.name}`, one] as const))('%s', async (name, one) => {
    // Where they were taken from, an empty line at the end was lost.
    const isHeadOnly = !/\r?\n\r?\n/.test(one.responseBytes) && one.responseBytes.endsWith('\n')
    const judgement = await judge(Buffer.from(one.responseBytes + (isHeadOnly ? '\r\n' : ''), 'latin1'))
    const [expected, reason] = AGAINST_LLHTTP[name] ?? []
    if (expected !== undefined) expect(judgement, reason).toBe(expected)
    else if (one.strictParserError === null) expect(judgement).toBe('whole')
    else expect(judgement).not.toBe('whole')
  })
})
