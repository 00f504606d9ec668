// Whether what pages.jsonl says of a body is true of the bytes in the archive, decoded.

import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { PageRecord } from '../../src/store/index.ts'
import type { CheckedRecord } from '../warc-check.ts'

/** Everything that is wrong, as sentences; nothing when all is well. */
export function bodyProblems(
  pages: readonly PageRecord[],
  files: ReadonlyMap<string, readonly CheckedRecord[]>,
): string[] {
  const responses = new Map<string, CheckedRecord>()
  for (const record of [...files.values()].flat()) {
    if (record.type === 'response') responses.set(record.field('WARC-Target-URI') ?? '', record)
  }
  return pages.flatMap((page) => {
    const record = files.get(page.warc?.file ?? '')?.find((one) => one.offset === page.warc?.offset)
    if (record === undefined) return [`${page.url}: no record`]
    const source = record.type === 'revisit' ? responses.get(record.field('WARC-Refers-To-Target-URI') ?? '') : record
    if (source === undefined) return [`${page.url}: what its revisit refers to is not archived`]
    const problems: string[] = []
    const head = source.block.toString('latin1', 0, source.block.indexOf('\r\n\r\n'))
    const coding = /^content-encoding:\s*(\S+)/im.exec(head)?.[1]
    const decoded = decode(source.payload() ?? Buffer.alloc(0), coding)
    const digest = `sha256:${createHash('sha256').update(decoded).digest('hex')}`
    if (digest !== page.digest) problems.push(`${page.url}: the archived body has another digest`)
    if (decoded.length !== page.bytes)
      problems.push(`${page.url}: ${decoded.length} bytes archived, ${page.bytes} told`)
    const status = record.block.toString('latin1', 0, 20)
    if (!status.includes(` ${page.status} `)) problems.push(`${page.url}: archived as ${status}`)
    return problems
  })
}

function decode(payload: Buffer, coding: string | undefined): Buffer {
  if (payload.length === 0) return payload
  switch (coding) {
    case 'gzip':
      return gunzipSync(payload)
    case 'deflate':
      try {
        return inflateSync(payload)
      } catch {
        return inflateRawSync(payload)
      }
    case 'br':
      return brotliDecompressSync(payload)
    case 'zstd':
      return zstdDecompressSync(payload)
    default:
      return payload
  }
}
