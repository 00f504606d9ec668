// The growing files of a crawl, held against what the last batch says of them: at least so long, whole lines, every
// line JSON, every archive there that pages speak of.

import { open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import { type ArchiveState, loadShipped, type PageRecord, readPlacedLines } from '../store/index.ts'
import { committedFiles } from './crawl-files.ts'
import { editionOf } from './failures-file.ts'

export interface FileFinding {
  readonly part: string
  /** As batches call it. */
  readonly name: string
  /** What is wrong; '' when nothing is. */
  readonly what: string
  readonly figures: string
  /** What can be done without it; null when it must be restored. */
  readonly remedy: string | null
  /** The length to go on with, where it is another than was committed. */
  readonly newLength: number | null
}

/** What is only remembered to spare questions, or for the report: it can be begun anew. */
const DISPENSABLE: Readonly<Record<string, string>> = {
  robots: 'begun anew; robots.txt files are asked for again',
  givenUp: 'begun anew; hosts that were given up are tried again',
  manners: 'begun anew; hosts are asked as configured, and pauses they asked for before are in the frontier',
  links: 'begun anew; the report does not know the links of pages fetched so far',
}

/** `crawlDir` has the archive; of one agent it is `dir` itself. */
export async function checkFiles(
  dir: string,
  crawlDir: string,
  states: Readonly<Record<string, unknown>>,
): Promise<FileFinding[]> {
  const findings: FileFinding[] = []
  const archives = new Map<string, number>()
  for (const { name, path, length } of committedFiles(states)) {
    const isLines = path.endsWith('.jsonl')
    const result = await checkFile(join(dir, path), length, isLines, name === 'pages' ? archives : null)
    const remedy = DISPENSABLE[name] ?? null
    const newLength = result.what !== '' && remedy !== null ? 0 : null
    findings.push({ part: path, name, ...result, remedy, newLength })
  }
  findings.push(await checkEdition(dir, states), await checkArchive(crawlDir, states, archives))
  return findings
}

export interface Checked {
  readonly what: string
  readonly figures: string
}

/** `archives` learns how long the files are that pages speak of. */
export async function checkFile(
  path: string,
  length: number,
  isLines: boolean,
  archives: Map<string, number> | null,
): Promise<Checked> {
  const size = await sizeIfThere(path)
  if (size === null) return { what: length === 0 ? '' : 'it is missing', figures: 'empty' }
  if (size < length) return { what: `it is ${size} bytes long, but ${length} were committed`, figures: '' }
  if (!isLines) return { what: '', figures: `${length} bytes` }
  if (length === 0) return { what: '', figures: '0 lines' }
  if ((await byteAt(path, length - 1)) !== 10) {
    return { what: `no line ends at byte ${length}, where the last committed one should`, figures: '' }
  }
  let lines = 0
  try {
    for await (const { end, record } of readPlacedLines<PageRecord>(path)) {
      lines++
      if (archives !== null && record.warc !== null) {
        const { file, offset, length: bytes } = record.warc
        archives.set(file, Math.max(archives.get(file) ?? 0, offset + bytes))
      }
      // Not one line further: what lies behind does not count, and the next run cuts it off.
      if (end >= length) break
    }
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'LEDGER_CORRUPT') return { what: fault.message, figures: '' }
    throw fault
  }
  return { what: '', figures: `${lines} lines` }
}

/** failures.jsonl may stand in a new edition that was not given its name yet. */
async function checkEdition(dir: string, states: Readonly<Record<string, unknown>>): Promise<FileFinding> {
  const { path, length } = editionOf(dir, states['failures'])
  const result = await checkFile(join(dir, path), length, true, null)
  return { part: 'failures.jsonl', name: 'failures', ...result, remedy: null, newLength: null }
}

async function checkArchive(
  crawlDir: string,
  states: Readonly<Record<string, unknown>>,
  named: ReadonlyMap<string, number>,
): Promise<FileFinding> {
  const finding = { part: 'archive', name: 'archive', remedy: null, newLength: null }
  const state = (states['archive'] as ArchiveState | null | undefined) ?? null
  const needed = new Map(named)
  const shipped = await loadShipped(crawlDir)
  for (const { file, length } of [...(state?.full ?? []), ...(state?.open == null ? [] : [state.open])]) {
    needed.set(file, Math.max(needed.get(file) ?? 0, length))
  }
  for (const [file, length] of needed) {
    const here = (await sizeIfThere(join(crawlDir, `${file}.open`))) ?? (await sizeIfThere(join(crawlDir, file)))
    const size = here ?? shipped.get(file)?.bytes ?? null
    if (size === null) return { ...finding, what: `${file} is missing`, figures: '' }
    if (size < length) {
      return { ...finding, what: `${file} is ${size} bytes long, but ${length} were committed`, figures: '' }
    }
  }
  return { ...finding, what: '', figures: `files that count: ${needed.size}` }
}

async function byteAt(path: string, at: number): Promise<number | null> {
  const handle = await open(path, 'r')
  try {
    const byte = Buffer.alloc(1)
    const { bytesRead } = await handle.read(byte, 0, 1, at)
    return bytesRead === 0 ? null : (byte[0] ?? null)
  } finally {
    await handle.close()
  }
}

/** The size of a file; null where there is none. */
export async function sizeIfThere(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
}
