// Bytes → text as the Encoding Standard says. The platform's TextDecoder does so for all encodings but five
// (docs/decisions/0026-decoding.md has the count): for these a library brings the standard's own tables.
//
//     utf-8, single bytes, gbk …     TextDecoder (native)
//     shift_jis, euc-jp, iso-2022-jp, euc-kr, big5     tables, loaded when the first such page is met (30 ms, 7 MB)

import { createRequire } from 'node:module'
import type * as MultiByte from '@exodus/bytes/multi-byte.js'

/** Never throws: what is no character becomes U+FFFD. A byte order mark is a character like any other. */
export type DecodeText = (bytes: Uint8Array) => string

const BY_TABLE: ReadonlySet<string> = new Set(['big5', 'euc-jp', 'euc-kr', 'iso-2022-jp', 'shift_jis'])

/** Decoders of the names met, of which the standard has forty. They keep nothing between calls. */
const decoders = new Map<string, DecodeText>()

/** The decoder of an encoding by its lower-case WHATWG name. Throws RangeError where the standard has none of that name. */
export function textDecoder(encoding: string): DecodeText {
  const known = decoders.get(encoding)
  if (known !== undefined) return known
  const decoder = BY_TABLE.has(encoding) ? tableDecoder(encoding) : platformDecoder(encoding)
  decoders.set(encoding, decoder)
  return decoder
}

function platformDecoder(encoding: string): DecodeText {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  return (bytes) => decoder.decode(bytes)
}

function tableDecoder(encoding: string): DecodeText {
  // Required, not imported: decoding is not asynchronous, and nearly every crawl can do without the tables.
  const { createMultibyteDecoder } = createRequire(import.meta.url)('@exodus/bytes/multi-byte.js') as typeof MultiByte
  const decode = createMultibyteDecoder(encoding, true)
  return (bytes) => decode(bytes)
}
