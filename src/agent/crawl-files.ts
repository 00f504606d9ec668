// The files of a crawl, opened at what the ledger says of each: whatever lies beyond was never promised
// and is cut off.

import { join } from 'node:path'
import { userAgentOf } from '../fetch/index.ts'
import type { CrawlIdentity } from '../ledger/index.ts'
import { LinkLog } from '../processors/index.ts'
import {
  type Archive,
  type ArchiveState,
  CdxjWriter,
  type FailureRecord,
  JsonLines,
  NullArchive,
  type PageRecord,
  sortCdxj,
  WarcWriter,
} from '../store/index.ts'
import { type FingerprintKey, surt } from '../url/index.ts'
import type { CommittedFile } from './books.ts'
import type { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { IndexedArchive } from './indexed-archive.ts'
import type { Replayed } from './replay.ts'

/** Files of a crawl's directory, by the names the ledger knows them by. */
const FILES = {
  archive: 'archive',
  pages: 'pages.jsonl',
  failures: 'failures.jsonl',
  index: 'state/index.cdxj',
  links: 'state/links.log',
} as const

export interface CrawlFiles {
  readonly archive: Archive
  readonly pages: JsonLines<PageRecord>
  readonly failures: JsonLines<FailureRecord>
  readonly linkLog: LinkLog | null
  readonly committed: ReadonlyMap<string, CommittedFile>
}

/** Opens what the crawl writes, each cut back to what the ledger says of it. */
export async function openCrawlFiles(
  { dir, settings, clock, software }: CrawlPlan,
  identity: CrawlIdentity,
  past: Replayed,
  closers: Closers,
): Promise<CrawlFiles> {
  const lengthOf = (name: keyof typeof FILES): { committedLength: number } => ({
    committedLength: (past.files[name] as number | undefined) ?? 0,
  })
  const pages = await JsonLines.open<PageRecord>(join(dir, FILES.pages), lengthOf('pages'))
  closers.add(() => pages.close())
  const failures = await JsonLines.open<FailureRecord>(join(dir, FILES.failures), lengthOf('failures'))
  closers.add(() => failures.close())
  const committed = new Map<string, CommittedFile>([
    ['pages', { state: () => pages.length, sync: () => pages.sync() }],
    ['failures', { state: () => failures.length, sync: () => failures.sync() }],
  ])

  let linkLog: LinkLog | null = null
  if (settings.agent.linkLog) {
    const log = await LinkLog.open(join(dir, FILES.links), { key: keyOf(identity), ...lengthOf('links') })
    closers.add(() => log.close())
    committed.set('links', { state: () => log.length, sync: () => log.sync() })
    linkLog = log
  }

  const { warc } = settings.store
  if (warc === 'off') return { archive: new NullArchive(), pages, failures, linkLog, committed }
  const writer = await WarcWriter.open({
    directory: dir,
    crawlName: identity.name,
    agent: 0,
    options: { ...settings.store, warc },
    info: {
      software,
      format: 'WARC File Format 1.1',
      robots: settings.robots.robots,
      isPartOf: identity.name,
      'http-header-user-agent': userAgentOf(settings.fetch),
    },
    clock,
    resumeFrom: (past.files['archive'] as ArchiveState | null | undefined) ?? null,
  })
  const index = await CdxjWriter.open({
    path: join(dir, FILES.index),
    surt,
    ...lengthOf('index'),
  })
  closers.add(async () => {
    await index.close()
    await sortCdxj([join(dir, FILES.index)], join(dir, 'archive/index.cdxj'))
  })
  closers.add(() => writer.close())
  committed.set('archive', {
    state: () => writer.state(),
    sync: () => writer.sync(),
    committed: (state) => writer.committed(state as ArchiveState),
  })
  committed.set('index', { state: () => index.length, sync: () => index.sync() })
  return { archive: new IndexedArchive(writer, index), pages, failures, linkLog, committed }
}

/** The key of the crawl's fingerprints. */
export function keyOf(identity: CrawlIdentity): FingerprintKey {
  const key = Buffer.from(identity.key, 'hex')
  return [key.readUInt32LE(0), key.readUInt32LE(4)]
}
