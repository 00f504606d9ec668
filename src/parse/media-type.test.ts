// What a body is, where the server did not say.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sniffMediaType } from './media-type.ts'

const sniff = (text: string, declared: string | null = null): string =>
  sniffMediaType(Buffer.from(text, 'latin1'), declared)

test.each([
  ['<!DOCTYPE html><p>', 'text/html'],
  ['\xef\xbb\xbf \n<HTML lang=en>', 'text/html'],
  ['<p>text', 'text/html'],
  ['<!-- comment -->', 'text/html'],
  ['<?xml version="1.0"?><x/>', 'text/xml'],
  ['<rss version="2.0">', 'application/rss+xml'],
  ['<feed xmlns="http://www.w3.org/2005/Atom">', 'application/atom+xml'],
  ['%PDF-1.7', 'application/pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['GIF89a', 'image/gif'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
  ['\0\0\0\x20ftypisom', 'video/mp4'],
  ['\x1f\x8b\x08', 'application/gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['just text', 'text/plain'],
  ['\xff\xfet\0e\0x\0t\0', 'text/plain'],
  ['pages <b>of</b> prose', 'text/plain'],
  ['a\0b', 'application/octet-stream'],
  ['', 'text/plain'],
])('%j is %s', (body, mediaType) => expect(sniff(body)).toBe(mediaType))

test('what is declared text/plain must announce itself as a whole document to be another', () => {
  expect(sniff('<p>how to write HTML', 'text/plain')).toBe('text/plain')
  expect(sniff('<!-- x --> <!doctype html><p>', 'text/plain')).toBe('text/html')
  expect(sniff('<?xml version="1.0"?><urlset/>', 'text/plain')).toBe('text/xml')
  expect(sniff('\x89PNG\r\n\x1a\n', 'text/plain')).toBe('image/png')
})

test('any bytes are of some type, decided by the first 1,445 of them', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3_000 }), (bytes) => {
      expect(sniffMediaType(bytes)).toMatch(/^[a-z]+\/[a-z0-9.+-]+$/)
      expect(sniffMediaType(bytes)).toBe(sniffMediaType(bytes.subarray(0, 1_445)))
    }),
  )
})
