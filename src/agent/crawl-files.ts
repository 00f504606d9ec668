// The files of a crawl, opened at what the ledger says of each: whatever lies beyond was never promised
// and is cut off.

import { join } from 'node:path'
import { userAgentOf } from '../fetch/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import type { CrawlIdentity, OriginalNote } from '../ledger/index.ts'
import { LinkLog } from '../processors/index.ts'
import type { SavedRobotsEntry } from '../robots/index.ts'
import {
  type Archive,
  type ArchiveState,
  CdxjWriter,
  JsonLines,
  loadLostFiles,
  loadShipped,
  NullArchive,
  type PageRecord,
  type ReturnNote,
  sortCdxj,
  WarcWriter,
} from '../store/index.ts'
import { type CanonicalUrl, type FingerprintKey, surt } from '../url/index.ts'
import type { CommittedFile } from './books.ts'
import type { Closers } from './closers.ts'
import type { CrawlPlan } from './crawl-plan.ts'
import { IndexedArchive } from './indexed-archive.ts'
import type { MannersNote } from './learnt-rests.ts'
import type { LostNote } from './lost-captures.ts'
import type { GivenUpNote } from './trouble.ts'
import { FailuresFile, type FailuresState } from './failures-file.ts'

/** Files of a crawl's directory, by the names the ledger knows them by. */
export const FILES = {
  archive: 'archive',
  pages: 'pages.jsonl',
  seeds: 'state/seeds.jsonl',
  held: 'state/held.jsonl',
  robots: 'state/robots.jsonl',
  givenUp: 'state/given-up.jsonl',
  manners: 'state/manners.jsonl',
  index: 'state/index.cdxj',
  links: 'state/links.log',
  originals: 'state/originals.jsonl',
  returns: 'state/returns.jsonl',
  lost: 'state/lost.jsonl',
} as const

/** What was learnt about traps: no batch speaks of it, and nothing is lost without it but requests. */
export const TRAPS_FILE = 'state/traps.jsonl'

/** A seed as it was given, or where one redirected to. */
export interface Seed {
  readonly url: CanonicalUrl
  readonly via: CanonicalUrl | null
}

export interface CrawlFiles {
  readonly archive: Archive
  readonly pages: JsonLines<PageRecord>
  readonly failures: FailuresFile
  /** Every seed, what seeds redirected to included. */
  readonly seeds: JsonLines<Seed>
  /** URLs refused for their depth alone, in case the limit is raised. */
  readonly held: JsonLines<FrontierEntry>
  /** Rules learnt from robots.txt; the last line of an origin holds. */
  readonly robots: JsonLines<SavedRobotsEntry>
  /** Hosts and origins that were given up, and until when. */
  readonly givenUp: JsonLines<GivenUpNote>
  /** Pages that were put back in line. */
  readonly returns: JsonLines<ReturnNote>
  /** Pauses that hosts asked for, and the pace they have taught; the last line of a host holds. */
  readonly manners: JsonLines<MannersNote>
  readonly linkLog: LinkLog | null
  /** First pages of the contents this agent owns, whoever met them; null where it owns all: then pages.jsonl says it. */
  readonly originals: JsonLines<OriginalNote> | null
  /** Originals whose copy in the archive is lost; null where none ever was. */
  readonly lost: JsonLines<LostNote> | null
  readonly committed: ReadonlyMap<string, CommittedFile>
}

/** Opens what the crawl writes, each cut back to what the ledger says of it. */
export async function openCrawlFiles(
  plan: CrawlPlan,
  identity: CrawlIdentity,
  states: Readonly<Record<string, unknown>>,
  closers: Closers,
): Promise<CrawlFiles> {
  const { dir, share, settings, clock, software } = plan
  const lengthOf = (name: keyof typeof FILES): { committedLength: number } => ({
    committedLength: (states[name] as number | undefined) ?? 0,
  })
  const committed = new Map<string, CommittedFile>()
  const openLines = async <T>(name: keyof typeof FILES): Promise<JsonLines<T>> => {
    const lines = await JsonLines.open<T>(join(dir, FILES[name]), lengthOf(name))
    closers.add(() => lines.close())
    committed.set(name, { state: () => lines.length, sync: () => lines.sync() })
    return lines
  }
  const pages = await openLines<PageRecord>('pages')
  const seeds = await openLines<Seed>('seeds')
  const held = await openLines<FrontierEntry>('held')
  const robots = await openLines<SavedRobotsEntry>('robots')
  const givenUp = await openLines<GivenUpNote>('givenUp')
  const returns = await openLines<ReturnNote>('returns')
  const manners = await openLines<MannersNote>('manners')
  const failures = await FailuresFile.open(dir, (states['failures'] as FailuresState | undefined) ?? null)
  closers.add(() => failures.close())
  committed.set('failures', failures)
  const originals = share === null ? null : await openLines<OriginalNote>('originals')
  const lost = plan.notesLost === true || states['lost'] !== undefined ? await openLines<LostNote>('lost') : null
  const lines = { lost, originals, pages, seeds, held, robots, givenUp, returns, manners, failures }

  let linkLog: LinkLog | null = null
  if (settings.agent.linkLog) {
    const log = await LinkLog.open(join(dir, FILES.links), { key: keyOf(identity), ...lengthOf('links') })
    closers.add(() => log.close())
    committed.set('links', { state: () => log.length, sync: () => log.sync() })
    linkLog = log
  }

  const { warc } = settings.store
  if (warc === 'off') return { archive: new NullArchive(), ...lines, linkLog, committed }
  const directory = share?.crawlDir ?? dir
  const writer = await WarcWriter.open({
    directory,
    crawlName: identity.name,
    agent: share?.agent ?? 0,
    node: share?.node ?? null,
    // Looked up when a file is found to be missing: a node ships files while its agents come and go.
    elsewhere: async (file) => (await loadShipped(directory)).get(file)?.bytes ?? null,
    ...(plan.notesLost === true ? { mayLack: true } : {}),
    options: { ...settings.store, warc },
    info: {
      software,
      format: 'WARC File Format 1.1',
      robots: settings.robots.robots,
      isPartOf: identity.name,
      'http-header-user-agent': userAgentOf(settings.fetch),
    },
    clock,
    resumeFrom: (states['archive'] as ArchiveState | null | undefined) ?? null,
  })
  const index = await CdxjWriter.open({
    path: join(dir, FILES.index),
    surt,
    ...lengthOf('index'),
  })
  closers.add(async () => {
    await index.close()
    // Of several agents the indexes are sorted together.
    if (share !== null || plan.leavesIndex === true) return
    await sortCdxj([join(dir, FILES.index)], join(dir, 'archive/index.cdxj'), await loadLostFiles(dir))
  })
  let counted = (states['archive'] as ArchiveState | null | undefined) ?? null
  // A file gets its final name when all of it is committed, and only then: from that moment on it may be copied elsewhere.
  closers.add(() => (isCommitted(writer.state(), counted) ? writer.close() : writer.abandon()))
  committed.set('archive', {
    state: () => writer.state(),
    sync: () => writer.sync(),
    committed: (state) => {
      counted = state as ArchiveState
      return writer.committed(counted)
    },
  })
  committed.set('index', { state: () => index.length, sync: () => index.sync() })
  return { archive: new IndexedArchive(writer, index), ...lines, linkLog, committed }
}

/** Whether every byte of the files that are not finished yet counts. */
function isCommitted({ open, full }: ArchiveState, counted: ArchiveState | null): boolean {
  const known = [...(counted?.full ?? []), ...(counted?.open == null ? [] : [counted.open])]
  const unfinished = [...full, ...(open === null ? [] : [open])]
  return unfinished.every(({ file, length }) => known.some((one) => one.file === file && one.length === length))
}

/** The key of the crawl's fingerprints. */
export function keyOf(identity: Pick<CrawlIdentity, 'key'>): FingerprintKey {
  const key = Buffer.from(identity.key, 'hex')
  return [key.readUInt32LE(0), key.readUInt32LE(4)]
}

/** How much of a file counts by what a batch says of it; null where the batch says nothing. */
export function committedLength(states: Readonly<Record<string, unknown>>, path: string): number | null {
  const archive = states['archive'] as ArchiveState | null | undefined
  const open = [archive?.open, ...(archive?.full ?? [])].find((file) => path === `${file?.file}.open`)
  if (open != null) return open.length
  if (path === 'failures.jsonl') return (states['failures'] as FailuresState | undefined)?.length ?? null
  const found = Object.entries(FILES).find(([, file]) => file === path)
  return found === undefined ? null : ((states[found[0]] as number | undefined) ?? null)
}

/** Every file that a batch gives a length, the archive and failures.jsonl aside, which are told of in their own ways. */
export function committedFiles(
  states: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly path: string; readonly length: number }[] {
  return Object.entries(FILES).flatMap(([name, path]) => {
    const length = states[name]
    return name === 'archive' || typeof length !== 'number' ? [] : [{ name, path, length }]
  })
}
