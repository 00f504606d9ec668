// The law of archives that keep what they are given; run on the WARC writer and on its twin in memory.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf, plainDocument } from '../../test/plain-document.ts'
import type { Document } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { Archive, ArchiveFacts } from './archive.ts'
import type { WarcLocation } from './records.ts'

export interface ArchiveUnderTest {
  readonly archive: Archive
  /** The record stored at a place, uncompressed; after close(). */
  readonly read: (location: WarcLocation) => Promise<Buffer>
}

export function factsOf(document: Document, facts: Partial<ArchiveFacts> = {}): ArchiveFacts {
  return { payloadDigest: digestOf(document.wire.bytes()), revisitOf: null, via: null, depth: 0, ...facts }
}

export function archiveConformance(open: () => Promise<ArchiveUnderTest>): void {
  describe('an archive', () => {
    test('gives each document a place of its own, where its response stands', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 12 }), async (bodies) => {
          const { archive, read } = await open()
          const documents = bodies.map((body, i) => plainDocument(`http://127.0.0.1/${i}`, body))
          // Offered at once: none waits for another.
          const places = await Promise.all(
            documents.map(async (document) => archive.write(document, factsOf(document))),
          )
          await archive.close()
          for (const [i, place] of places.entries()) {
            const record = (await read(place!)).toString('latin1')
            expect(record).toMatch(/^WARC\/1\.1\r\nWARC-Type: response\r\n/)
            expect(record).toContain(`WARC-Target-URI: http://127.0.0.1/${i}\r\n`)
            const body = Buffer.from(bodies[i]!).toString('latin1')
            expect(record.endsWith(`\r\n\r\n${body}\r\n\r\n`)).toBe(true)
          }
          const starts = new Set(places.map((place) => `${place!.file} ${place!.offset}`))
          expect(starts.size).toBe(bodies.length)
        }),
        { numRuns: 25 },
      )
    })

    test('keeps a duplicate as a revisit without its body', async () => {
      const { archive, read } = await open()
      const document = plainDocument('http://127.0.0.1/copy', 'the same')
      const revisitOf = {
        url: 'http://127.0.0.1/original' as CanonicalUrl,
        fetchedAtMs: Date.UTC(2026, 0, 1),
        payloadDigest: digestOf(document.wire.bytes()),
      }
      const place = await archive.write(document, factsOf(document, { revisitOf }))
      await archive.close()
      const record = (await read(place!)).toString('latin1')
      expect(record).toContain('WARC-Type: revisit\r\n')
      expect(record).toContain('WARC-Refers-To-Target-URI: http://127.0.0.1/original\r\n')
      expect(record).toContain('WARC-Refers-To-Date: 2026-01-01T00:00:00.000Z\r\n')
      expect(record).not.toContain('the same')
    })

    test('that is closed takes no more', async () => {
      const { archive } = await open()
      await archive.close()
      await archive.close()
      const document = plainDocument('http://127.0.0.1/', 'x')
      await expect(async () => archive.write(document, factsOf(document))).rejects.toMatchObject({ code: 'ASSERTION' })
    })
  })
}
