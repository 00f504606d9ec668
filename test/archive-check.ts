// A crawl's directory judged as a whole: every WARC by the strict reader, and every place that
// pages.jsonl and the index speak of by looking there.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CheckedRecord, checkWarcFile } from './warc-check.ts'

export interface ArchiveCheck {
  /** By file name relative to the crawl's directory. */
  readonly files: ReadonlyMap<string, readonly CheckedRecord[]>
  readonly problems: readonly string[]
}

export interface ArchiveCheckOptions {
  /** A crawl under way may have files that still bear `.open`. */
  readonly mayBeOpen?: boolean
}

interface Place {
  readonly url: string
  readonly file: string
  readonly offset: number
  readonly length: number
}

export function checkArchive(directory: string, options: ArchiveCheckOptions = {}): ArchiveCheck {
  const files = new Map<string, readonly CheckedRecord[]>()
  const problems: string[] = []
  const ids = new Map<string, string>()
  const folder = join(directory, 'archive')
  for (const entry of existsSync(folder) ? readdirSync(folder).toSorted() : []) {
    if (!entry.includes('.warc')) continue
    if (entry.endsWith('.open') && options.mayBeOpen !== true) problems.push(`${entry}: not finished`)
    const name = entry.replace(/\.open$/, '')
    const check = checkWarcFile(join(folder, entry))
    files.set(`archive/${name}`, check.records)
    const complain = (what: string): void => {
      problems.push(`${entry}: ${what}`)
    }
    check.problems.forEach(complain)
    checkFile(name, check.records, ids, complain)
  }
  for (const place of pagePlaces(directory)) checkPlace(place, files, problems, 'pages.jsonl')
  checkIndex(directory, files, problems)
  return { files, problems }
}

function checkFile(
  name: string,
  records: readonly CheckedRecord[],
  ids: Map<string, string>,
  complain: (what: string) => void,
): void {
  const first = records[0]
  if (first?.type !== 'warcinfo') complain('does not begin with a warcinfo record')
  else if (first.field('WARC-Filename') !== name) complain(`says that it is ${first.field('WARC-Filename')}`)
  const here = new Set(records.map((record) => record.field('WARC-Record-ID')))
  for (const record of records) {
    const id = record.field('WARC-Record-ID') ?? ''
    if (ids.has(id)) complain(`record id ${id} was used before, in ${ids.get(id)}`)
    ids.set(id, name)
    const other = record.field('WARC-Concurrent-To')
    if (other !== null && !here.has(other)) complain(`byte ${record.offset}: concurrent to a record that is not here`)
  }
}

function* pagePlaces(directory: string): Generator<Place> {
  const path = join(directory, 'pages.jsonl')
  if (!existsSync(path)) return
  for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const page = JSON.parse(line) as { url: string; warc: Omit<Place, 'url'> | null }
    if (page.warc !== null) yield { url: page.url, ...page.warc }
  }
}

function checkIndex(directory: string, files: ReadonlyMap<string, readonly CheckedRecord[]>, problems: string[]): void {
  const path = join(directory, 'archive', 'index.cdxj')
  if (!existsSync(path)) return
  const lines = readFileSync(path, 'latin1').split('\n').slice(0, -1)
  if (lines.some((line, i) => i > 0 && line < (lines[i - 1] ?? ''))) problems.push('index.cdxj: not sorted')
  for (const line of lines) {
    const [, json] = /^\S+ \d{14} (\{.*\})$/.exec(line) ?? []
    if (json === undefined) {
      problems.push(`index.cdxj: not a line of CDXJ: ${line}`)
      continue
    }
    const entry = JSON.parse(Buffer.from(json, 'latin1').toString()) as Record<string, string>
    const place = {
      url: entry['url'] ?? '',
      file: `archive/${entry['filename']}`,
      offset: Number(entry['offset']),
      length: Number(entry['length']),
    }
    checkPlace(place, files, problems, 'index.cdxj')
  }
  const kept = [...files.values()].flat().filter(({ type }) => type === 'response' || type === 'revisit')
  if (lines.length !== kept.length) problems.push(`index.cdxj: ${lines.length} lines for ${kept.length} records`)
}

function checkPlace(
  place: Place,
  files: ReadonlyMap<string, readonly CheckedRecord[]>,
  problems: string[],
  where: string,
): void {
  const record = files.get(place.file)?.find(({ offset }) => offset === place.offset)
  const isRight =
    record !== undefined &&
    record.length === place.length &&
    (record.type === 'response' || record.type === 'revisit') &&
    record.field('WARC-Target-URI') === place.url
  if (!isRight) problems.push(`${where}: ${place.url} is not in ${place.file} at ${place.offset}+${place.length}`)
}
