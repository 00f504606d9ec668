import { expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import type { PeerMessage } from './peer-message.ts'
import { packMessages, unpackMessages } from './wire-packet.ts'

test('answers of a lent turn cross with every byte, whatever else crosses with them', () => {
  const answerOf = (wire: Uint8Array) => ({
    url: 'http://a.test/ä' as CanonicalUrl,
    requestHead: 'GET / HTTP/1.1\r\n\r\n',
    httpVersion: '1.1' as const,
    status: 200,
    statusText: 'Größe',
    rawHeaders: ['X', '\u00ff'],
    responseHead: null,
    wire,
    wireTruncated: null,
    fetchedAtMs: 1,
    firstByteMs: 0.5,
    durationMs: 2,
    ip: '192.0.2.1',
  })
  const bytes = Uint8Array.from({ length: 3_000 }, (_, i) => (i * 7) % 256)
  const messages: PeerMessage[] = [
    { kind: 'parcel', parcel: { number: 1, entries: 'entries', originals: [] } },
    {
      kind: 'lend-done',
      id: 2 ** 48,
      answers: [
        { kind: 'fetched', answer: answerOf(bytes) },
        { kind: 'skipped', url: 'http://a.test/b' as CanonicalUrl, reason: 'type-filtered', detail: 'image/png' },
        { kind: 'fetched', answer: answerOf(new Uint8Array(0)) },
      ],
      next: null,
    },
    { kind: 'lend-wanted' },
  ]
  const packed = packMessages(messages)
  expect(unpackMessages([packed.subarray(0, 10), packed.subarray(10)])).toEqual(messages)
})
