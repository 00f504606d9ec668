// Bodies decode to what was encoded, in any coding and size; what does not decode keeps what it can,
// and nothing grows beyond its limit.

import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { materialPath } from '../../test/material.ts'
import { Spool, SpooledBody } from '../document/index.ts'
import { type Decoded, decodeContent, parseCodings } from './content-coding.ts'

const directory = join(tmpdir(), `portolan-coding-${process.pid}`)
const spool = new Spool(directory, 64 * 1024)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const ENCODE: Record<string, (bytes: Uint8Array) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  'x-gzip': (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
}

async function decode(
  bytes: Uint8Array,
  codings: string[],
  limit = 1e9,
  isWhole = true,
): Promise<Decoded & { text: string; bytes: Buffer }> {
  const wire = SpooledBody.of(bytes, spool)
  const decoded = await decodeContent(wire, codings, spool, limit, isWhole)
  const copy = Buffer.from(decoded.body.bytes())
  decoded.body.release()
  wire.release()
  return { ...decoded, bytes: copy, text: copy.toString('latin1') }
}

test.each<[values: string[], codings: string[]]>([
  [[], []],
  [['gzip'], ['gzip']],
  [[' GZip '], ['gzip']],
  [['identity'], []],
  [['gzip, identity ,br'], ['gzip', 'br']],
  [
    ['gzip', 'deflate'],
    ['gzip', 'deflate'],
  ],
  [[''], []],
  [[',,'], []],
])('Content-Encoding %j names %j', (values, codings) => {
  expect(parseCodings(values)).toEqual(codings)
})

test('any body comes back from any codings in a row', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 2_000 }),
        fc.nat(400_000).map((length) => Buffer.alloc(length, 'portolan')),
      ),
      fc.array(fc.constantFrom(...Object.keys(ENCODE)), { minLength: 1, maxLength: 3 }),
      async (bytes, codings) => {
        let wire: Uint8Array = bytes
        for (const coding of codings) wire = (ENCODE[coding] as (bytes: Uint8Array) => Buffer)(wire)
        const decoded = await decode(wire, codings)
        expect(decoded.bytes.equals(bytes)).toBe(true)
        expect(decoded).toMatchObject({ decoding: 'decoded', isCut: false })
      },
    ),
    { numRuns: 60 },
  )
})

test('a large body that does not compress is decoded piece by piece', async () => {
  const random = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (Math.imul(i, 2_654_435_761) >>> 11) & 0xff))
  for (const [coding, encode] of Object.entries(ENCODE)) {
    expect((await decode(encode(random), [coding])).bytes.equals(random)).toBe(true)
  }
})

test('gzip bodies of any members come back whole, whatever the last one says of its size', async () => {
  const member = fc.oneof(fc.nat(300), fc.nat(90_000))
  await fc.assert(
    fc.asyncProperty(
      fc.array(member, { minLength: 1, maxLength: 3 }),
      fc.option(fc.nat(0xffffffff), { nil: null }),
      async (sizes, lie) => {
        const parts = sizes.map((size, i) => Buffer.alloc(size, `part ${i} `))
        const bytes = Buffer.concat(parts.map((part) => zlib.gzipSync(part)))
        const said = bytes.readUInt32LE(bytes.length - 4)
        if (lie !== null) bytes.writeUInt32LE(lie, bytes.length - 4)
        const decoded = await decode(bytes, ['gzip'])
        expect(decoded.decoding).toBe(lie === null || lie === said ? 'decoded' : 'broken')
        // What came before the end counts, also where the end is a lie.
        if (decoded.decoding === 'decoded') expect(decoded.bytes.equals(Buffer.concat(parts))).toBe(true)
      },
    ),
    { numRuns: 100 },
  )
})

test('several gzip members are one body, and deflate may come bare', async () => {
  const twice = Buffer.concat([zlib.gzipSync('one '), zlib.gzipSync('two')])
  expect((await decode(twice, ['gzip'])).text).toBe('one two')
  expect((await decode(zlib.deflateRawSync('bare'), ['deflate'])).text).toBe('bare')
})

describe('what does not decode', () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`).join('')

  test('a body that is not what it says is kept as it came', async () => {
    for (const coding of Object.keys(ENCODE)) {
      expect(await decode(Buffer.from('<html>plain'), [coding])).toMatchObject({
        decoding: 'broken',
        text: '<html>plain',
      })
    }
  })

  test('an end that comes too early keeps what came before', async () => {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const whole = (ENCODE[coding] as (bytes: Uint8Array) => Buffer)(Buffer.from(text))
      const cut = await decode(whole.subarray(0, whole.length - 200), [coding])
      expect(cut.decoding).toBe('broken')
      expect(cut.text.length).toBeGreaterThan(text.length / 4)
      expect(text.startsWith(cut.text)).toBe(true)
    }
  })

  test('an end that was cut by us is no surprise', async () => {
    const whole = zlib.gzipSync(text)
    const cut = await decode(whole.subarray(0, whole.length - 200), ['gzip'], 1e9, false)
    expect(cut.decoding).toBe('decoded')
    expect(text.startsWith(cut.text)).toBe(true)
  })

  test('a coding we do not speak stays on, and those outside of it come off', async () => {
    expect(await decode(Buffer.from('x'), ['foo'])).toMatchObject({ decoding: 'unknown', text: 'x' })
    expect(await decode(zlib.deflateSync('x'), ['gzip', 'foo', 'deflate'])).toMatchObject({
      decoding: 'unknown',
      text: 'x',
    })
    expect(
      await decode(
        Buffer.from('x'),
        Array.from({ length: 6 }, () => 'gzip'),
      ),
    ).toMatchObject({ decoding: 'unknown' })
  })

  test('an empty body has no coding', async () => {
    expect(await decode(Buffer.alloc(0), ['gzip'])).toMatchObject({ decoding: 'none', text: '' })
  })

  test('random bytes never throw', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(...Object.keys(ENCODE)),
        async (bytes, coding) => {
          const magic: Record<string, number[]> = {
            gzip: [0x1f, 0x8b, 8],
            zstd: [0x28, 0xb5, 0x2f, 0xfd],
            deflate: [0x78, 0x9c],
          }
          const body = Buffer.from([...(magic[coding] ?? []), ...bytes])
          expect((await decode(body, [coding], 10_000)).body.length).toBeLessThanOrEqual(Math.max(10_000, body.length))
        },
      ),
      { numRuns: 100 },
    )
  })
})

test('no body grows beyond its limit, and one at its limit is whole', async () => {
  const zeros = Buffer.alloc(3_000_000)
  for (const [coding, encode] of Object.entries(ENCODE)) {
    const bomb = encode(zeros)
    expect(await decode(bomb, [coding], 100_000)).toMatchObject({ isCut: true, body: { length: 100_000 } })
    expect(await decode(bomb, [coding], zeros.length)).toMatchObject({ isCut: false, body: { length: zeros.length } })
    expect(await decode(encode(bomb), [coding, coding], 100_000)).toMatchObject({
      isCut: true,
      body: { length: 100_000 },
    })
    expect(await decode(bomb, [coding], 0)).toMatchObject({ isCut: true, body: { length: 0 } })
  }
})

const folder = materialPath('http', 'compressed')
describe.skipIf(folder === null)(
  `scrapy's compressed samples${folder === null ? ' (material not present)' : ''}`,
  () => {
    const read = (name: string): Buffer => readFileSync(join(folder ?? '', name))

    test.each<[file: string, codings: string[]]>([
      ['html-gzip.bin', ['gzip']],
      ['html-br.bin', ['br']],
      ['html-rawdeflate.bin', ['deflate']],
      ['html-zlibdeflate.bin', ['deflate']],
      ['html-zstd-static-content-size.bin', ['zstd']],
      ['html-zstd-static-no-content-size.bin', ['zstd']],
      ['html-zstd-streaming-no-content-size.bin', ['zstd']],
      ['html-gzip-deflate.bin', ['gzip', 'deflate']],
      ['html-gzip-deflate-gzip.bin', ['gzip', 'deflate', 'gzip']],
    ])('%s decodes', async (file, codings) => {
      const decoded = await decode(read(file), codings)
      expect(decoded.decoding).toBe('decoded')
      expect(decoded.text.startsWith('<!DOCTYPE')).toBe(true)
      expect(decoded.bytes.length).toBeGreaterThan(74_000)
    })

    test.each<[file: string, coding: string]>([
      ['bomb-gzip.bin', 'gzip'],
      ['bomb-deflate.bin', 'deflate'],
      ['bomb-br.bin', 'br'],
      ['bomb-zstd.bin', 'zstd'],
    ])('%s is cut at a limit', async (file, coding) => {
      expect(await decode(read(file), [coding], 1_000_000)).toMatchObject({ isCut: true, body: { length: 1_000_000 } })
    })

    test('what was cut before its end is salvaged', async () => {
      // The expected text was written as UTF-8, one character per byte.
      expect((await decode(read('unexpected-eof.gz'), ['gzip'])).text).toBe(
        read('unexpected-eof-output.txt').toString('utf8'),
      )
      expect((await decode(read('truncated-crc-error.gz'), ['gzip'])).text.trimEnd().endsWith('</html')).toBe(true)
      expect((await decode(read('truncated-crc-error-short.gz'), ['gzip'])).text.trimEnd().endsWith('</html>')).toBe(
        true,
      )
    })
  },
)

describe('a body that breaks in the middle', () => {
  const text = Array.from({ length: 40_000 }, (_, i) => `line ${i}\n`).join('')

  test.each(['gzip', 'deflate'])('of %s keeps all that came before', async (coding) => {
    const whole = (ENCODE[coding] as (bytes: Uint8Array) => Buffer)(Buffer.from(text))
    const at = whole.length - 2_000
    const damaged = Buffer.from(whole)
    damaged.fill(0xff, at, at + 100)
    const decoded = await decode(damaged, [coding])
    expect(decoded.decoding).toBe('broken')
    // Of the rest of it nothing is lost but what stands behind the damage.
    expect(decoded.bytes.length).toBeGreaterThan((text.length * (at - 300)) / whole.length)
    expect(text.startsWith(decoded.text.slice(0, (text.length * (at - 300)) / whole.length))).toBe(true)
  })

  test.each(['x', 'ab', 'and some text', '<!-- served in 3 ms -->\n'])(
    'gzip with %j behind it is whole',
    async (garbage) => {
      for (const body of ['small', text]) {
        const decoded = await decode(Buffer.concat([zlib.gzipSync(body), Buffer.from(garbage)]), ['gzip'])
        expect(decoded).toMatchObject({ decoding: 'decoded', isCut: false })
        expect(decoded.text).toBe(body)
      }
    },
  )
})
