// Where the files of an archive are, as crawl.json and `portolan status` tell it: here, on the shelf, or both.

import { formatBytes } from '../base/index.ts'
import type { ArchiveStanding, FileCount } from '../store/index.ts'
import { formatNumberOf } from './figures.ts'

/** Finished WARC files. */
export interface ArchiveFigures extends Pick<ArchiveStanding, 'shipped' | 'onlyHere' | 'onlyThere'> {
  /** Where they are copied to (--archive-to); null where they stay. */
  readonly to: string | null
  /** Of index and pages, which are copied at the end: what is not there as it is now. */
  readonly missing: readonly string[]
  /** What was in the way when the run ended. */
  readonly trouble: string | null
}

const NONE: FileCount = { files: 0, bytes: 0 }

export const NO_ARCHIVE_FIGURES: ArchiveFigures = {
  to: null,
  shipped: NONE,
  onlyHere: NONE,
  onlyThere: NONE,
  missing: [],
  trouble: null,
}

/** Also where nothing was to be shipped. */
export function isShippedWhole({ to, onlyHere, missing }: ArchiveFigures): boolean {
  return to === null || onlyHere.files + missing.length === 0
}

/** '12 files, 3 GiB, at s3://…; 2, 1 GiB, not yet: why'. */
export function archiveText({ to, shipped, onlyHere, onlyThere, missing, trouble }: ArchiveFigures): string {
  if (to === null) return `${filesText(onlyHere)} on this machine alone`
  const parts = [`${filesText(shipped)} at ${to}`]
  if (onlyThere.files > 0)
    parts.push(`${formatNumberOf(onlyThere.files, 'of them is', 'of them are')} not here any more`)
  if (onlyHere.files > 0) parts.push(`${filesText(onlyHere)} not there yet`)
  if (missing.length > 0) parts.push(`${missing.join(', ')} not there yet`)
  return `${parts.join('; ')}${trouble === null ? '' : `: ${trouble}`}`
}

function filesText({ files, bytes }: FileCount): string {
  return `${formatNumberOf(files, 'file')} (${formatBytes(bytes)})`
}

/** From JSON of any version; what it lacks is nothing. */
export function archiveFiguresOf(found: unknown): ArchiveFigures {
  if (typeof found !== 'object' || found === null) return NO_ARCHIVE_FIGURES
  const of = found as Readonly<Record<string, unknown>>
  const text = (name: string): string | null => (typeof of[name] === 'string' ? of[name] : null)
  const count = (name: string): FileCount => {
    const { files, bytes } = (of[name] ?? {}) as Partial<Record<keyof FileCount, unknown>>
    return { files: numberOf(files), bytes: numberOf(bytes) }
  }
  const missing = of['missing']
  return {
    to: text('to'),
    shipped: count('shipped'),
    onlyHere: count('onlyHere'),
    onlyThere: count('onlyThere'),
    missing: Array.isArray(missing) ? missing.filter((one): one is string => typeof one === 'string') : [],
    trouble: text('trouble'),
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
