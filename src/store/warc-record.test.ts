// What stands in a record, field by field. Framing, digests and compression are proved elsewhere, by
// reading whole files back.

import { describe, expect, test } from 'vitest'
import { digestOf, plainDocument } from '../../test/plain-document.ts'
import { type CheckedRecord, checkWarc } from '../../test/warc-check.ts'
import type { Document } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { ArchiveFacts } from './archive.ts'
import { factsOf } from './archive.conformance.ts'
import { buildRecord, planRecords, planWarcinfo, recordPieces, textBytes } from './warc-record.ts'

let count = 0
const uuid = (): string => `00000000-0000-4000-8000-${String(count++).padStart(12, '0')}`
const settings = { uuid, requests: true, metadata: true, blockDigest: true }

/** The records as another reader finds them. */
function recordsOf(document: Document, facts = factsOf(document), how = settings): readonly CheckedRecord[] {
  const { records, problems } = checkWarc(Buffer.concat(planRecords(document, facts, how).map(built)))
  expect(problems).toEqual([])
  return records
}

function built(record: Parameters<typeof buildRecord>[0]): Buffer {
  const target = Buffer.alloc(record.bytes)
  expect(buildRecord(record, target, 0)).toBe(record.bytes)
  return target
}

function only(document: Document, facts?: ArchiveFacts): CheckedRecord {
  return recordsOf(document, facts, { ...settings, requests: false, metadata: false })[0]!
}

const original = (document: Document): ArchiveFacts['revisitOf'] => ({
  url: 'http://127.0.0.1/first' as CanonicalUrl,
  fetchedAtMs: Date.UTC(2025, 11, 31, 23, 59, 59, 999),
  payloadDigest: digestOf(document.wire.bytes()),
})

describe('the response', () => {
  test('has its head byte for byte as it came, but for the name of a transfer coding', () => {
    const responseHead = 'HTTP/1.1 200  Fine\nX:a\r\n  folded\r\nno header\r\nX-Latin : caf\u00e9\r\n\r\n'
    const document = plainDocument('http://127.0.0.1/', 'body', { responseHead, rawHeaders: ['X', 'a folded'] })
    expect(only(document).block.toString('latin1')).toBe(`${responseHead}body`)
    const chunked = 'HTTP/1.1 200 OK\r\nVia: Transfer-Encoding: x\r\ntransfer-Encoding : chunked\nTE: x\r\n\r\n'
    const rawHeaders = ['Via', 'Transfer-Encoding: x', 'transfer-Encoding', 'chunked', 'TE', 'x']
    expect(
      only(plainDocument('http://127.0.0.1/', 'body', { responseHead: chunked, rawHeaders })).block.toString('latin1'),
    ).toBe(`${chunked.replace('transfer-E', 'X-Orig-transfer-E')}body`)
  })

  test('is rebuilt from the raw headers where the head is not at hand, in order, repeated and odd ones included', () => {
    const rawHeaders = ['X-b', '2', 'Set-Cookie', 'a=1', 'x-A', '', 'Set-Cookie', 'b=2', 'X-Latin', 'caf\u00e9']
    const record = only(plainDocument('http://127.0.0.1/', 'body', { status: 404, statusText: 'Not here', rawHeaders }))
    expect(record.block.toString('latin1')).toBe(
      'HTTP/1.1 404 Not here\r\nX-b: 2\r\nSet-Cookie: a=1\r\nx-A: \r\nSet-Cookie: b=2\r\nX-Latin: caf\u00e9\r\n\r\nbody',
    )
  })

  test('keeps the space of a status line without a reason', () => {
    const record = only(plainDocument('http://127.0.0.1/', '', { statusText: '', rawHeaders: [] }))
    expect(record.block.toString('latin1')).toBe('HTTP/1.1 200 \r\n\r\n')
  })

  test('does not claim a transfer coding its body no longer has', () => {
    const rawHeaders = ['transfer-encoding', 'chunked', 'Content-Encoding', 'gzip']
    const record = only(plainDocument('http://127.0.0.1/', 'body', { rawHeaders }))
    expect(record.block.toString('latin1')).toContain(
      '\r\nX-Orig-transfer-encoding: chunked\r\nContent-Encoding: gzip\r\n\r\nbody',
    )
  })

  test('says when, where from and what of', () => {
    const document = plainDocument('http://127.0.0.1/a?b', 'body', { ip: '::1' })
    const record = only(document)
    expect(record.field('WARC-Date')).toBe('2026-01-02T03:04:05.678Z')
    expect(record.field('WARC-Target-URI')).toBe('http://127.0.0.1/a?b')
    expect(record.field('WARC-IP-Address')).toBe('::1')
    expect(record.field('WARC-Payload-Digest')).toBe(digestOf(Buffer.from('body')))
    expect(record.field('WARC-Block-Digest')).toBe(digestOf(record.block))
    expect(record.field('WARC-Truncated')).toBeNull()
    expect(record.field('WARC-Protocol')).toBeNull()
  })

  test('that was cut says why', () => {
    for (const wireTruncated of ['length', 'time', 'disconnect'] as const) {
      expect(only(plainDocument('http://127.0.0.1/', 'bo', { wireTruncated })).field('WARC-Truncated')).toBe(
        wireTruncated,
      )
    }
  })

  test('over HTTP/2 is written as HTTP/1.1 and names its protocol', () => {
    const record = only(plainDocument('http://127.0.0.1/', 'x', { httpVersion: '2' }))
    expect(record.block.toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(record.field('WARC-Protocol')).toBe('h2')
    expect(only(plainDocument('http://127.0.0.1/', 'x', { httpVersion: '1.0' })).block.toString()).toMatch(
      /^HTTP\/1\.0 /,
    )
  })
})

describe('a revisit', () => {
  test('has the header and not the body, and names the original', () => {
    const document = plainDocument('http://127.0.0.1/second', 'body')
    const record = only(document, factsOf(document, { revisitOf: original(document) }))
    expect(record.type).toBe('revisit')
    expect(record.block.toString('latin1')).toBe('HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n')
    expect(record.field('WARC-Profile')).toBe('http://netpreserve.org/warc/1.1/revisit/identical-payload-digest')
    expect(record.field('WARC-Refers-To-Target-URI')).toBe('http://127.0.0.1/first')
    expect(record.field('WARC-Refers-To-Date')).toBe('2025-12-31T23:59:59.999Z')
    expect(record.field('WARC-Payload-Digest')).toBe(digestOf(Buffer.from('body')))
    expect(record.field('WARC-Truncated')).toBe('length')
  })

  test('is not made where the payload as archived differs, was not archived, was cut, or is empty', () => {
    const document = plainDocument('http://127.0.0.1/second', 'body')
    const revisitOf = original(document)!
    const notArchived = { ...revisitOf, payloadDigest: null }
    const otherwiseCoded = { ...revisitOf, payloadDigest: digestOf(Buffer.from('gzipped body')) }
    expect(only(document, factsOf(document, { revisitOf: notArchived })).type).toBe('response')
    expect(only(document, factsOf(document, { revisitOf: otherwiseCoded })).type).toBe('response')
    const cut = plainDocument('http://127.0.0.1/second', 'body', { wireTruncated: 'time' })
    expect(only(cut, factsOf(cut, { revisitOf })).type).toBe('response')
    const empty = plainDocument('http://127.0.0.1/second', '')
    expect(only(empty, factsOf(empty, { revisitOf: original(empty) })).type).toBe('response')
  })
})

describe('what came by another protocol', () => {
  const label = {
    httpVersion: null,
    status: 226,
    rawHeaders: ['Last-Modified', 'Thu, 02 Jan 2020 03:04:05 GMT'],
    requestHead: 'RETR /a\r\n226 Done\r\n',
    mediaType: 'text/plain',
  } as const

  test('is a resource of its own type, without a head', () => {
    const record = only(plainDocument('ftp://h/a', 'body', label))
    expect(record.type).toBe('resource')
    expect(record.block.toString()).toBe('body')
    expect(record.field('Content-Type')).toBe('text/plain')
    expect(record.field('WARC-Payload-Digest')).toBe(digestOf(Buffer.from('body')))
    expect(record.field('WARC-IP-Address')).toBe('127.0.0.1')
    const unknown = only(plainDocument('ftp://h/a', 'body', { ...label, mediaType: null, wireTruncated: 'time' }))
    expect(unknown.field('Content-Type')).toBe('application/octet-stream')
    expect(unknown.field('WARC-Truncated')).toBe('time')
  })

  test('and came before is a revisit with nothing in it', () => {
    const document = plainDocument('ftp://h/b', 'body', label)
    const record = only(document, factsOf(document, { revisitOf: original(document) }))
    expect(record.type).toBe('revisit')
    expect(record.block.length).toBe(0)
    expect(record.field('WARC-Refers-To-Target-URI')).toBe('http://127.0.0.1/first')
  })
})

describe('beside the response stand', () => {
  test('the request as it was sent and how the page was come by, tied to it and dated alike', () => {
    const document = plainDocument('http://127.0.0.1/x', 'body')
    const facts = factsOf(document, { via: 'http://127.0.0.1/', depth: 3, metadata: { charset: 'utf-8', empty: '' } })
    const [response, request, metadata] = recordsOf(document, facts)
    expect(request!.block.toString()).toBe('GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
    expect(metadata!.block.toString()).toBe(
      'via: http://127.0.0.1/\r\nhopsFromSeed: LLL\r\nfetchTimeMs: 35\r\ncharset: utf-8\r\n',
    )
    for (const record of [request!, metadata!]) {
      expect(record.field('WARC-Concurrent-To')).toBe(response!.field('WARC-Record-ID'))
      expect(record.field('WARC-Date')).toBe(response!.field('WARC-Date'))
      expect(record.field('WARC-Target-URI')).toBe('http://127.0.0.1/x')
    }
  })

  test('neither where they are not wanted', () => {
    const document = plainDocument('http://127.0.0.1/x', 'body')
    const types = (how: typeof settings): string[] =>
      recordsOf(document, factsOf(document), how).map(({ type }) => type)
    expect(types({ ...settings, requests: false })).toEqual(['response', 'metadata'])
    expect(types({ ...settings, metadata: false })).toEqual(['response', 'request'])
  })

  test('hop paths that do not grow without end', () => {
    const document = plainDocument('http://127.0.0.1/x', 'body')
    const [, , metadata] = recordsOf(document, factsOf(document, { depth: 1_234 }))
    expect(metadata!.block.toString()).toContain(`hopsFromSeed: 1184+${'L'.repeat(50)}\r\n`)
  })

  test('no line breaks that would end a field early, and text beyond ASCII as UTF-8', () => {
    const document = plainDocument('http://127.0.0.1/x', 'body')
    const [, , metadata] = recordsOf(document, factsOf(document, { metadata: { note: 'a\r\nvia: b — ü' } }))
    expect(metadata!.block.toString('utf8')).toBe('fetchTimeMs: 35\r\nnote: a via: b — ü\r\n')
  })
})

test('the digest of a block is written only where it is wanted', () => {
  const document = plainDocument('http://127.0.0.1/x', 'body')
  const without = recordsOf(document, factsOf(document), { ...settings, blockDigest: false })
  expect(without.map((record) => record.field('WARC-Block-Digest'))).toEqual([null, null, null])
  expect(without[0]!.field('WARC-Payload-Digest')).toBe(digestOf(Buffer.from('body')))
  const withIt = recordsOf(document)
  expect(withIt.map((record) => record.field('WARC-Block-Digest'))).toEqual(withIt.map(({ block }) => digestOf(block)))
})

test('the record that opens a file says who wrote it and to which standard', () => {
  const info = planWarcinfo(
    { software: 'Portolan/1', description: 'Übung' },
    'x.warc.gz',
    Date.UTC(2026, 0, 1),
    settings,
  )
  const { records, problems } = checkWarc(built(info))
  expect(problems).toEqual([])
  expect(records[0]!.field('WARC-Filename')).toBe('x.warc.gz')
  expect(records[0]!.block.toString('utf8')).toBe(
    'software: Portolan/1\r\ndescription: Übung\r\nformat: WARC File Format 1.1\r\n' +
      'conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n',
  )
})

test('built in place or piece by piece, a record is the same bytes', () => {
  for (const bytes of [0, 1, 65_535, 65_536, 65_537, 300_000]) {
    const document = plainDocument('http://127.0.0.1/', Buffer.alloc(bytes, 'abc'))
    for (const blockDigest of [true, false]) {
      const [record] = planRecords(document, factsOf(document), { ...settings, blockDigest })
      const pieces: Buffer[] = []
      for (const piece of recordPieces(record!)) pieces.push(Buffer.from(piece))
      expect(Buffer.concat(pieces).equals(built(record!))).toBe(true)
      expect(textBytes(record!)).toBe(pieces[0]!.length)
    }
  }
})
