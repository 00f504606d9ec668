// Whether the archive of a crawl keeps its promises: valid files, and every line that points into
// them points at the record it speaks of.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { PageRecord } from '../../src/store/index.ts'
import { type CheckedRecord, checkWarcFile } from '../warc-check.ts'

/** Everything that is wrong, as sentences; nothing when all is well. */
export function archiveProblems(dir: string, pages: readonly PageRecord[]): string[] {
  const problems: string[] = []
  const records = new Map<string, CheckedRecord>()
  const responses = new Map<string, CheckedRecord>()
  for (const name of readdirSync(join(dir, 'archive'))) {
    if (name.endsWith('.cdxj')) continue
    if (name.endsWith('.open')) problems.push(`${name} was not finished`)
    const check = checkWarcFile(join(dir, 'archive', name))
    problems.push(...check.problems.map((problem) => `${name}: ${problem}`))
    for (const record of check.records) {
      records.set(`archive/${name} ${record.offset}`, record)
      if (record.type === 'response') responses.set(record.field('WARC-Target-URI') ?? '', record)
    }
  }
  for (const page of pages) {
    const { warc } = page
    const record = warc === null ? undefined : records.get(`${warc.file} ${warc.offset}`)
    if (record === undefined) problems.push(`${page.url}: no record at ${JSON.stringify(warc)}`)
    else problems.push(...pageProblems(page, record, responses))
  }
  problems.push(...indexProblems(dir, records))
  return problems
}

function pageProblems(
  page: PageRecord,
  record: CheckedRecord,
  responses: ReadonlyMap<string, CheckedRecord>,
): string[] {
  const problems: string[] = []
  if (record.field('WARC-Target-URI') !== page.url) problems.push(`${page.url}: its record is of another URL`)
  if (record.length !== page.warc?.length) problems.push(`${page.url}: its record is ${record.length} bytes long`)
  const source = record.type === 'revisit' ? responses.get(record.field('WARC-Refers-To-Target-URI') ?? '') : record
  if (source === undefined) return [...problems, `${page.url}: what its revisit refers to is not archived`]
  const head = source.block.toString('latin1', 0, source.block.indexOf('\r\n\r\n'))
  const statusRecord = record.block.toString('latin1', 0, 20)
  if (!statusRecord.includes(` ${page.status} `)) problems.push(`${page.url}: archived with ${statusRecord}`)
  const payload = source.payload() ?? Buffer.alloc(0)
  const coding = /^content-encoding:\s*(\S+)/im.exec(head)?.[1]
  const decoded = decode(payload, coding)
  const digest = `sha256:${createHash('sha256').update(decoded).digest('hex')}`
  if (digest !== page.digest) problems.push(`${page.url}: the archived body has another digest`)
  if (decoded.length !== page.bytes) problems.push(`${page.url}: ${decoded.length} bytes archived, ${page.bytes} told`)
  return problems
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

function indexProblems(dir: string, records: ReadonlyMap<string, CheckedRecord>): string[] {
  const path = join(dir, 'archive/index.cdxj')
  if (!existsSync(path)) return ['there is no index.cdxj']
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  const problems: string[] = []
  const sorted = lines.map((line) => Buffer.from(line)).sort(Buffer.compare)
  if (sorted.some((line, index) => line.toString() !== lines[index])) problems.push('index.cdxj is not sorted')
  const indexed = new Set<string>()
  for (const line of lines) {
    const entry = JSON.parse(line.slice(line.indexOf('{'))) as {
      url: string
      filename: string
      offset: string
      length: string
    }
    const key = `archive/${entry.filename} ${entry.offset}`
    const record = records.get(key)
    indexed.add(key)
    if (record === undefined) problems.push(`index: no record for ${entry.url}`)
    else if (record.field('WARC-Target-URI') !== entry.url || String(record.length) !== entry.length) {
      problems.push(`index: the record of ${entry.url} is another one`)
    }
  }
  for (const [key, record] of records) {
    const isCapture = record.type === 'response' || record.type === 'revisit'
    if (isCapture && !indexed.has(key)) problems.push(`index: ${record.field('WARC-Target-URI')} is missing`)
  }
  return problems
}
