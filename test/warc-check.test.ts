// Who checks the checker: files that others wrote and judged (jwat's and warcio's own test data), and
// small damages done here, which need no material.

import { existsSync } from 'node:fs'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { hasMaterial, materialPath, readMaterial } from './material.ts'
import { checkWarc, checkWarcFile } from './warc-check.ts'

interface Expectation {
  readonly file: string
  readonly records?: number
  /** In all, or record by record. */
  readonly errors?: number | readonly number[]
  readonly warnings?: number | readonly number[]
  readonly missing?: readonly string[]
  readonly index?: readonly { readonly offset: number; readonly length: number; readonly warcType: string }[]
  readonly digestsValid?: boolean
  readonly valid?: boolean
  readonly note?: string
}

/** What jwat counts and we do not, by file. */
const NOT_IN_ITS_POWER: Readonly<Record<string, string>> = {
  'jwat/invalid-warcfile-encoding-headers.warc.gz':
    'jwat judges the bytes of target URIs; we take any that are one word',
}

function sum(counts: number | readonly number[] | undefined): number {
  return typeof counts === 'number' ? counts : (counts ?? []).reduce((total, count) => total + count, 0)
}

describe.skipIf(!hasMaterial)(hasMaterial ? 'the files of others' : 'the files of others: material not present', () => {
  const expectations = readMaterial<Expectation[]>('warc', 'expectations.json') ?? []
  test.each(expectations.filter(({ file }) => NOT_IN_ITS_POWER[file] === undefined))('$file', (expected) => {
    const path = materialPath('warc', expected.file)!
    expect(existsSync(path)).toBe(true)
    const { records, problems } = checkWarcFile(path, { anyVersion: true })
    if (expected.missing !== undefined) {
      // This file's lines end in a bare LF, which we call no header at all.
      const isReadable = expected.file !== 'jwat/invalid-warcfile-lonely-monkeys.warc'
      if (isReadable) {
        expect(records).toHaveLength(expected.records!)
        for (const field of expected.missing) expect(problems.join('\n')).toContain(`${field} is missing`)
      } else expect(problems).not.toEqual([])
      return
    }
    if (expected.valid === false || expected.digestsValid === false) {
      expect(problems).not.toEqual([])
      return
    }
    if (expected.records !== undefined) expect(records).toHaveLength(expected.records)
    if (sum(expected.errors) + sum(expected.warnings) > 0) expect(problems).not.toEqual([])
    else expect(problems).toEqual([])
    // Each count is exact where both judge by the same rule.
    if (expected.file.includes('duplicate-fields')) expect(problems).toHaveLength(sum(expected.errors))
    if (expected.index !== undefined) {
      // warcio leaves the two line ends out of the length of an uncompressed record.
      const trailing = expected.note === undefined ? 0 : 4
      expect(
        records.map(({ offset, length, type }) => ({ offset, length: length - trailing, warcType: type })),
      ).toEqual(expected.index)
    }
  })
})

describe('a record that is wrong in one point is told by that point', () => {
  const good = [
    'WARC/1.1',
    'WARC-Type: response',
    'WARC-Record-ID: <urn:uuid:35f02b38-eb19-4f0d-86e4-bfe95815069c>',
    'WARC-Date: 2026-01-01T00:00:00.123Z',
    'WARC-Target-URI: http://example.org/',
    'WARC-Block-Digest: sha1:K5O6N36N3ZCSMWER4BP52B3XTVBC5GVP',
    'Content-Type: application/http; msgtype=response',
    'Content-Length: 20',
    '',
    'HTTP/1.1 200 OK\r\n\r\nx',
    '',
    '',
  ]
  const problemsWith = (at: number, line: string | null): readonly string[] => {
    const lines = line === null ? good.toSpliced(at, 1) : good.with(at, line)
    return checkWarc(Buffer.from(lines.join('\r\n'), 'latin1')).problems
  }

  test.each([
    [0, 'WARC/1.0', /version WARC\/1\.0/],
    [1, null, /WARC-Type is missing/],
    [1, 'WARC-Type: answer', /unknown type answer/],
    [2, 'WARC-Record-ID: urn:uuid:1', /WARC-Record-ID is malformed/],
    [3, 'WARC-Date: 2026-01-01', /WARC-Date is malformed/],
    [4, null, /WARC-Target-URI is missing/],
    [4, 'WARC-Target-URI: <http://example.org/>', /WARC-Target-URI is malformed/],
    [5, 'WARC-Block-Digest: sha1:AAAAJBGQZLR6O24XFPYCZGYI65K5LCOO', /the block digest is/],
    [5, 'WARC-Payload-Digest: sha1:AAAAJBGQZLR6O24XFPYCZGYI65K5LCOO', /the payload digest is/],
    [5, 'WARC-Filename: x', /WARC-Filename does not belong/],
    [5, 'WARC-Truncated: yes', /WARC-Truncated is malformed/],
    [6, null, /Content-Type is missing/],
    [7, 'Content-Length: 19', /not followed by two line ends/],
    [7, 'Content-Length: twenty', /Content-Length is malformed/],
  ] as const)('line %i as %s', (at, line, complaint) => {
    expect(problemsWith(at, line).join('\n')).toMatch(complaint)
  })

  test('and the right one is not complained of, in any compression', () => {
    const bytes = Buffer.from(good.join('\r\n'), 'latin1')
    for (const stored of [bytes, gzipSync(bytes)]) expect(checkWarc(stored).problems).toEqual([])
    // Without options zstd writes no checksum, which the convention wants.
    expect(checkWarc(zstdCompressSync(bytes)).problems.join()).toMatch(/lacks its size or its checksum/)
    expect(checkWarc(gzipSync(Buffer.concat([bytes, bytes]))).problems.join()).toMatch(
      /more than one record in a member/,
    )
    expect(checkWarc(Buffer.concat([gzipSync(bytes), gzipSync('')])).problems.join()).toMatch(/nothing in it/)
    expect(checkWarc(Buffer.concat([gzipSync(bytes), Buffer.from('rubbish')])).problems.join()).toMatch(
      /no gzip member/,
    )
  })
})
