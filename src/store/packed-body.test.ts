import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import type { Decoding } from '../document/index.ts'
import { isPacked } from './packed-body.ts'

const CASES: [mediaType: string | null, decoding: Decoding, packed: boolean][] = [
  ['text/html', 'none', false],
  ['text/html', 'decoded', true],
  // Said to be gzip and is not: it may be anything.
  ['text/html', 'broken', false],
  ['text/html', 'unknown', false],
  [null, 'none', false],
  [null, 'decoded', true],
  ['image/jpeg', 'none', true],
  ['image/svg+xml', 'none', false],
  ['image/bmp', 'none', false],
  ['video/mp4', 'none', true],
  ['audio/wav', 'none', false],
  ['font/woff2', 'none', true],
  ['font/ttf', 'none', false],
  ['application/zip', 'none', true],
  ['application/json', 'none', false],
  ['application/octet-stream', 'none', false],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'none', true],
]

test.each(CASES)('%s, content coding %s: %s', (mediaType, decoding, packed) => {
  expect(isPacked(plainDocument('http://127.0.0.1/', 'x', { mediaType, decoding }))).toBe(packed)
})
