// A damaged crawl made one that can go on. First everything is looked at, share by share (crawl-inspection.ts), and what the
// agents have told each other is compared (exchange-repair.ts); then, if that is wanted, each share is put right
// (repair-share.ts), and last the files that are merged from them (view-check.ts).
//
// Always true: nothing is changed where anything cannot be repaired, and nothing is ever deleted: what is cut or replaced
// lies in state/damaged-<time>/. It can be interrupted and done again. Shares that are whole and have to tell something once more
// come first: afterwards nothing would show that they must.

import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Random } from '../base/index.ts'
import { type DirectoryLock, lockDirectory, syncDirectory } from '../disk/index.ts'
import type { ExchangeState } from '../exchange/index.ts'
import { missingShares } from '../view/index.ts'
import { inspectShare, type PartFinding, type ShareInspection } from './crawl-inspection.ts'
import { mendExchange } from './exchange-repair.ts'
import { finishReplacement } from './frontier-repair.ts'
import { lockUnlessReadOnly } from './read-only-lock.ts'
import { repairShare } from './repair-share.ts'
import type { CrawlSettings } from './options.ts'
import { type SharePlace, sharePlaces } from './share-place.ts'
import { checkView, mendView } from './view-check.ts'

export interface RepairCrawlParts {
  readonly dir: string
  readonly settings: CrawlSettings
  readonly clock: Clock
  readonly random: Random
}

export interface CrawlInspection {
  readonly parts: readonly PartFinding[]
  /** Why it cannot be repaired; empty where it can, or need not. */
  readonly obstacles: readonly string[]
  readonly isSound: boolean
}

export interface CrawlRepair {
  readonly inspection: CrawlInspection
  /** Where everything that was cut or replaced lies now; null when nothing was changed. */
  readonly movedTo: string | null
  /** In what was repaired: what waits now, and how much of it was settled and will be asked for again. */
  readonly waiting: number
  readonly again: number
  /** URLs that waited and that nothing remembers: links to them make them new. */
  readonly lost: number
}

/** What was found, and what is to be done in which share. */
interface Findings extends CrawlInspection {
  readonly shares: readonly { readonly place: SharePlace; readonly inspection: ShareInspection }[]
}

/** Looks, and changes nothing. */
export async function inspectDirectory({
  dir,
  clock,
}: Pick<RepairCrawlParts, 'dir' | 'clock'>): Promise<CrawlInspection> {
  const look = (scratch: string): Promise<CrawlInspection> => inspect(dir, scratch, clock.wallMs())
  const lock = await lockUnlessReadOnly(join(dir, 'state'))
  if (lock !== null) return await inScratch(join(dir, 'state/repair-scratch'), lock, look)
  return await inScratch(await mkdtemp(join(tmpdir(), 'portolan-repair-')), null, look)
}

/** Looks, and puts right what can be. Does nothing where something cannot. */
export async function repairCrawl(parts: RepairCrawlParts): Promise<CrawlRepair> {
  const { dir, clock } = parts
  const lock = await lockDirectory(join(dir, 'state'))
  return await inScratch(join(dir, 'state/repair-scratch'), lock, async (scratch) => {
    for (const place of await sharePlaces(dir)) await finishReplacement(place.dir)
    const inspection = await inspect(dir, scratch, clock.wallMs())
    const { obstacles, isSound } = inspection
    if (isSound || obstacles.length > 0) return { inspection, movedTo: null, waiting: 0, again: 0, lost: 0 }
    return { inspection, ...(await apply(parts, inspection, scratch)) }
  })
}

/** With a directory to look at copies in; then both are given free. */
async function inScratch<T>(
  scratch: string,
  lock: DirectoryLock | null,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  try {
    await rm(scratch, { recursive: true, force: true })
    return await work(scratch)
  } finally {
    await rm(scratch, { recursive: true, force: true })
    await lock?.release()
  }
}

async function inspect(dir: string, scratch: string, wallMs: number): Promise<Findings> {
  const places = await sharePlaces(dir)
  const names = places.flatMap(({ name }) => (name === null ? [] : [name]))
  const missing = new Set(await missingShares(dir, names))
  const shares: { place: SharePlace; inspection: ShareInspection }[] = []
  for (const place of places) {
    const isLost = place.name !== null && missing.has(place.name)
    const inspection = isLost ? lostShare(place) : await inspectShare(place, scratch, wallMs)
    shares.push({ place, inspection })
  }
  const isShared = names.length > 0
  const mended = isShared && missing.size === 0 ? withExchange(shares) : shares
  const parts = [...mended.flatMap(({ inspection }) => inspection.parts), ...(isShared ? await checkView(dir) : [])]
  return {
    shares: mended,
    parts,
    obstacles: mended.flatMap(({ place: { name }, inspection }) =>
      inspection.obstacles.map((one) => (name === null ? one : `${name}: ${one}`)),
    ),
    isSound: parts.every(({ state }) => state === 'whole'),
  }
}

function lostShare({ name, dir }: SharePlace): ShareInspection {
  const what = `${dir} is missing`
  const remedy = 'what this agent knew is lost: its hosts, its pages, what waits'
  const finding: PartFinding = { share: name, part: 'journal', state: 'damaged', what, remedy }
  return { parts: [finding], obstacles: ['the share is gone'], isSound: false, plan: null }
}

/** Holds the shares against each other, and adds what follows to their plans. */
function withExchange(shares: Findings['shares']): Findings['shares'] {
  const { findings, states } = mendExchange(
    shares.map(({ place, inspection: { plan } }) => ({
      share: place.name,
      first: plan?.firstNumber ?? 0,
      last: plan?.last.number ?? 0,
      exchange: (plan?.last.batch.files['exchange'] as ExchangeState | undefined) ?? null,
      hasLostEnd: plan?.hasLostEnd ?? false,
    })),
  )
  return shares.map(({ place, inspection }, agent) => ({
    place,
    inspection: {
      ...inspection,
      parts: [...inspection.parts, ...findings.filter(({ share }) => share === place.name)],
      plan: inspection.plan === null ? null : { ...inspection.plan, exchange: states[agent] ?? null },
    },
  }))
}

async function apply(
  parts: RepairCrawlParts,
  { shares, parts: findings }: Findings,
  scratch: string,
): Promise<Omit<CrawlRepair, 'inspection'>> {
  const { dir, clock } = parts
  const wallMs = clock.wallMs()
  const aside = join(dir, `state/damaged-${new Date(wallMs).toISOString().replaceAll(':', '-')}`)
  const sum = { waiting: 0, again: 0, lost: 0 }
  const isShared = shares.some(({ place }) => place.name !== null)
  for (const { place, inspection } of shares.toSorted((a, b) => order(a.inspection) - order(b.inspection))) {
    const { plan, isSound } = inspection
    if (plan === null || (isSound && plan.exchange === null)) continue
    const repaired = await repairShare({ ...parts, place, wallMs }, plan, scratch)
    if (!isSound) {
      sum.waiting += repaired.waiting
      sum.again += repaired.again
      sum.lost += repaired.lost
    }
    if (!isShared) continue
    await mkdir(aside, { recursive: true })
    await rename(repaired.movedTo, join(aside, `agent-${place.agent}`))
  }
  if (isShared) await mendView(dir, findings, aside)
  await syncDirectory(join(dir, 'state'))
  return { movedTo: aside, ...sum }
}

/** Whole shares first. */
function order({ isSound }: ShareInspection): number {
  return isSound ? 0 : 1
}
