// Every part of an agent's share on disk, which is all of the crawl where there is one, read (of archives, index and link log only the length) and held against the others: what is whole, what is damaged, what a
// repair would do about it, and what it would lose. Changes nothing but a scratch directory, in which copies of the journal and of
// the frontier's store are opened: opening writes.
//
//   journal ──▶ its last good batch ──▶ what it says of files, runs, figures
//                     │                            │
//   frontier: holds batch B               is all of that there, and whole?
//
//   B within the journal             the frontier is told the rest by replay, as always
//   no store, all batches there      the same, from the first batch on
//   B behind its end, or before it   the two are not of one moment: frontier and seen set are made anew from what all know

import { copyFile, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import { checkContentRuns, type ContentState } from '../content-seen/index.ts'
import { SortedRun } from '../disk/index.ts'
import type { ExchangeState } from '../exchange/index.ts'
import type { SalvagedFrontier } from '../frontier/index.ts'
import { inspectJournal, lookAtLastBatch, type NumberedBatch, repairJournal } from '../ledger/index.ts'
import type { SeenState } from '../url-seen/index.ts'
import { checkFiles, type FileFinding } from './file-check.ts'
import { salvageCopy } from './frontier-repair.ts'
import type { SharePlace } from './share-place.ts'

export interface PartFinding {
  /** The share it is a part of; null where one agent has all, and for what belongs to all agents. */
  readonly share: string | null
  readonly part: string
  readonly state: 'whole' | 'damaged'
  /** What is wrong, and where. */
  readonly what: string
  /** What a repair does, and what is lost by it; '' where there is nothing to do. */
  readonly remedy: string
}

export interface ShareInspection {
  readonly parts: readonly PartFinding[]
  /** Why it cannot be repaired; empty where it can, or need not. */
  readonly obstacles: readonly string[]
  readonly isSound: boolean
  readonly plan: RepairPlan | null
}

export interface RepairPlan {
  /** The last batch the journal keeps. */
  readonly last: NumberedBatch
  /** The first one. */
  readonly firstNumber: number
  readonly isJournalCut: boolean
  /** The least batch that must stay, for repairJournal(). */
  readonly heldUpTo: number
  readonly rebuildsSeen: boolean
  readonly rebuildsFrontier: boolean
  readonly rebuildsContents: boolean
  /** Something can be read of the frontier's store. */
  readonly isFrontierReadable: boolean
  /** The journal has lost its end: what lies in files behind its last batch did not happen. */
  readonly hasLostEnd: boolean
  /** Files that can do with less than was committed, by the names batches have for them: their new lengths. */
  readonly shortened: Readonly<Record<string, number>>
  /** What it is to say of the exchange with other agents, where that is not what it said; see exchange-repair.ts. */
  readonly exchange: ExchangeState | null
}

/** What a store that is not there holds: all batches are to be told again. */
const NOTHING_STORED: SalvagedFrontier = { batch: 0, found: 0, expected: 0, certain: 0, damage: [], hosts: new Map() }

/** What faults tell people to do: they are doing it. */
const ADVICE = /(?:\. Nothing was changed)?; restore [^;]*`portolan repair` can save/

/** The caller holds the lock. `scratch` is made, and must be removed. */
export async function inspectShare(place: SharePlace, scratch: string, wallMs: number): Promise<ShareInspection> {
  const { name: share, dir, crawlDir } = place
  const parts: PartFinding[] = []
  const obstacles: string[] = []
  const whole = (part: string, what: string): void => void parts.push({ share, part, state: 'whole', what, remedy: '' })
  const damaged = (part: string, what: string, remedy: string): void =>
    void parts.push({ share, part, state: 'damaged', what: what.replace(ADVICE, ''), remedy })

  let frontierFault = ''
  const stored = await salvageCopy(dir, scratch, () => {}).catch((fault: unknown) => {
    if (!(fault instanceof Fault) || fault.code !== 'LEDGER_CORRUPT') throw fault
    frontierFault = fault.message
    return { ...NOTHING_STORED, expected: null, damage: [fault.message] }
  })
  const frontier = stored ?? NOTHING_STORED
  const heldUpTo = frontier.batch ?? 0
  const journal = await inspectJournalCopy(dir, scratch, heldUpTo, wallMs)
  const last = await lookAtLastBatch(journal.directory)
  // A head without batches is how a crawl begins, and what is left of one whose frontier holds a batch.
  const isEmptied = last === null && heldUpTo > 0
  if (journal.complaint === '' && !isEmptied)
    whole('journal', last === null ? 'no batch yet' : `up to batch ${last.number}`)
  else if (last === null) {
    const emptied = `it has no batch, but the frontier holds batch ${heldUpTo}: it has lost its end`
    damaged('journal', journal.complaint === '' ? emptied : journal.complaint, 'no batch of it can be read')
    obstacles.push('the journal has no batch left that says how long the files are')
  } else damaged('journal', journal.complaint, `is cut back to batch ${last.number}`)
  // A crawl that began and did nothing has nothing to be held against.
  if (last === null && journal.complaint === '' && !isEmptied)
    return { parts, obstacles, isSound: obstacles.length === 0, plan: null }
  if (last === null) return { parts, obstacles, isSound: false, plan: null }

  const states = last.batch.files
  const first = journal.firstNumber
  const isAhead = frontier.batch !== null && frontier.batch > last.number
  const isBehind = frontier.batch !== null && frontier.batch < first - 1
  const rebuildsFrontier = frontier.damage.length > 0 || isAhead || isBehind
  // Without a store the journal alone knows what waits, and it must know all of it.
  const isWithoutStore = stored === null || frontierFault !== ''
  const saysBatch = !isWithoutStore && frontier.batch !== null
  const isAllTold = first === 1 && !isAhead && (saysBatch || journal.complaint === '')
  if (isWithoutStore && first > 1) {
    const what = stored === null ? `${join(dir, 'state/frontier')} is missing` : frontierFault
    damaged('frontier', what, `nothing can be read of it, and the journal begins with batch ${first}`)
    obstacles.push('the store of the waiting URLs cannot be opened, and the journal does not know all of them')
    return { parts, obstacles, isSound: false, plan: null }
  }
  if (stored === null) whole('frontier', 'missing, but the journal knows what waits: the next run makes it anew')
  else if (!rebuildsFrontier) whole('frontier', `${frontier.found} URLs wait, as of batch ${frontier.batch}`)
  else
    damaged(
      'frontier',
      frontierComplaint(frontier, isAhead, isBehind, first, last.number),
      frontierRemedy(frontier, isAllTold, isBehind),
    )
  if (frontier.batch === null && journal.complaint !== '') {
    obstacles.push(
      'the journal is damaged and the frontier does not say which batch it holds: nothing tells what belongs together',
    )
  }

  const seen = (states['seen'] as SeenState | null | undefined) ?? null
  const seenFault = await seenComplaint(join(dir, 'state/seen'), seen, first)
  const rebuildsSeen = rebuildsFrontier || seenFault !== ''
  const counts = 'made anew from pages.jsonl, failures.jsonl and what waits; how often each URL was met is lost'
  if (seenFault !== '') damaged('seen set', seenFault, counts)
  else if (rebuildsSeen) whole('seen set', `whole, but ${counts}`)
  else whole('seen set', `${seen?.urls ?? 0} URLs on disk, runs: ${seen?.runs.length ?? 0}`)

  const contents = (states['contents'] as ContentState | null | undefined) ?? null
  const contentsFault = await complaintOf(async () => {
    if (contents !== null) await checkContentRuns(join(dir, 'state/contents'), contents)
  })
  if (contentsFault !== '')
    damaged(
      'contents',
      contentsFault,
      `made anew from ${share === null ? 'pages.jsonl' : 'originals.jsonl'}; nothing is lost`,
    )
  else whole('contents', `runs: ${contents?.runs.length ?? 0}`)

  const files = await checkFiles(dir, crawlDir, states)
  for (const file of files) {
    if (file.what === '') whole(file.part, file.figures)
    else damaged(file.part, file.what, file.remedy ?? 'cannot be made anew')
    if (file.what !== '' && file.remedy === null) obstacles.push(`${file.part}: ${file.what}`)
  }
  return {
    parts,
    obstacles,
    isSound: parts.every(({ state }) => state === 'whole'),
    plan: {
      last,
      firstNumber: first,
      isJournalCut: journal.complaint !== '',
      heldUpTo,
      rebuildsSeen,
      rebuildsFrontier,
      rebuildsContents: contentsFault !== '',
      isFrontierReadable: !isWithoutStore,
      hasLostEnd: journal.complaint !== '' || isAhead,
      shortened: shortenedIn(files),
      exchange: null,
    },
  }
}

/** The journal as it would be after a repair: the one that is there, or a mended copy of it. */
async function inspectJournalCopy(
  dir: string,
  scratch: string,
  heldUpTo: number,
  wallMs: number,
): Promise<{ directory: string; complaint: string; firstNumber: number }> {
  const directory = join(dir, 'state/journal')
  const { isSound, segments, misnamed } = await inspectJournal(directory)
  if (isSound) return { directory, complaint: '', firstNumber: segments[0]?.firstNumber ?? 1 }
  const bad = segments.find(({ damage }) => damage !== null)
  const what =
    bad?.damage == null
      ? `${misnamed[0]} is not the name of a segment`
      : `${bad.file} from byte ${bad.damage.at} on: ${bad.damage.what}`
  const copy = join(scratch, 'state/journal')
  await rm(copy, { recursive: true, force: true })
  await mkdir(copy, { recursive: true })
  for (const name of await readdir(directory)) await copyFile(join(directory, name), join(copy, name))
  const { kept } = await repairJournal(copy, { wallMs, heldUpTo })
  return { directory: copy, complaint: what, firstNumber: kept?.firstNumber ?? 1 }
}

function frontierComplaint(
  frontier: SalvagedFrontier,
  isAhead: boolean,
  isBehind: boolean,
  first: number,
  last: number,
): string {
  const [damage] = frontier.damage
  if (damage !== undefined) {
    return frontier.damage.length === 1 ? damage : `${damage}, and ${frontier.damage.length - 1} more`
  }
  if (isAhead) return `holds batch ${frontier.batch}, but the journal ends with ${last}: the journal has lost its end`
  if (isBehind) return `holds batch ${frontier.batch}, but the journal begins with ${first}: batches between are lost`
  return ''
}

/** `isAllTold`: the journal has everything that the store had. */
function frontierRemedy(frontier: SalvagedFrontier, isAllTold: boolean, isBehind: boolean): string {
  const { found, expected, certain, hosts } = frontier
  const made = `made anew from the ${found} URLs that can be read and the journal`
  if (isAllTold) return `${made}, which knows the others`
  if (isBehind) return `${made}; URLs that were met in the batches between are lost`
  if (expected === certain) return made
  const named = [...hosts.keys()].slice(0, 5).join(', ')
  const more = hosts.size > 5 ? ` and ${hosts.size - 5} more hosts` : ''
  const lost = expected === null ? 'URLs may be lost' : `up to ${expected - certain} URLs are lost`
  return `${made}; ${lost}${named === '' ? '' : ` (of ${named}${more})`}, less those that the journal still knows`
}

async function seenComplaint(directory: string, seen: SeenState | null, journalFirst: number): Promise<string> {
  if (seen === null) return journalFirst > 1 ? 'the last batch says nothing of it' : ''
  if (seen.replayFrom < journalFirst - 1) {
    return `holds batch ${seen.replayFrom}, but the journal begins with ${journalFirst}: batches between are lost`
  }
  return await complaintOf(async () => {
    for (const { name, blocks, keys } of seen.runs) {
      const run = await SortedRun.open(join(directory, name), { blocks, keys, filterBytes: 0 })
      run.close()
    }
  })
}

async function complaintOf(check: () => Promise<void>): Promise<string> {
  try {
    await check()
    return ''
  } catch (fault) {
    if (fault instanceof Fault && fault.code === 'LEDGER_CORRUPT') return fault.message
    throw fault
  }
}

function shortenedIn(files: readonly FileFinding[]): Record<string, number> {
  return Object.fromEntries(files.flatMap(({ name, newLength }) => (newLength === null ? [] : [[name, newLength]])))
}
