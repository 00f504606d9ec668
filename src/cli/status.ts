// portolan status: how a crawl stands, whether it runs or not. Reads files, takes no lock, touches nothing.
//
//   the lock     who runs it              the journal   the last batch: figures, and what it says of files
//   crawl.json   why the last run ended   the folders   how much room they take
//
// Where several agents crawl, each has a journal, and the figures of all are added up.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type CrawlTotals, linksOnTheirWay, sumTotals } from '../agent/index.ts'
import { Fault, formatBytes, STOPS, systemClock } from '../base/index.ts'
import { whoHolds } from '../disk/index.ts'
import { inspectJournal, lookAtLastBatch, type NumberedBatch } from '../ledger/index.ts'
import { archiveStanding } from '../store/index.ts'
import {
  type ArchiveFigures,
  archiveText,
  countManners,
  type CrawlSummary,
  formatCount,
  formatNumberOf,
  formatSpan,
  loadCrawlSummary,
  printable,
} from '../report/index.ts'
import { loadLayout, refuseMissingShares } from '../view/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, readOwnArguments } from './config-flags.ts'
import { assertCrawl, type CommandStreams, oneDirectory, shellWord } from './crawl-directory.ts'
import { type DiskUse, measureDisk } from './disk-use.ts'
import { loadSettings } from './stored-settings.ts'

const FLAGS = new Map([['json', BARE]])

export const statusCommand: Command = {
  usage: 'status DIR [--json]',
  examples: [
    { command: 'portolan status example.org', what: 'what was done, what waits, how much room it takes' },
    { command: 'portolan status example.org --json', what: 'the same figures as `portolan crawl --json`, for scripts' },
    { command: 'watch portolan status example.org', what: 'from another terminal, while it runs' },
  ],
  details: () =>
    'Reads what is committed, ten times a second while a crawl runs, and asks no server. It takes no lock and\n' +
    'touches nothing, so it may be run at any time. Figures are of the crawl since its directory began.',
  run: (args) => runStatus(args),
}

/** The names of the crawl's own --json object, and what only a status can tell. */
type Status = Pick<
  CrawlSummary,
  | 'pages'
  | 'failed'
  | 'failures'
  | 'answers'
  | 'skipped'
  | 'refused'
  | 'bytes'
  | 'seconds'
  | 'hosts'
  | 'urlsSeen'
  | 'waiting'
  | 'peakRssBytes'
  | 'cpuSeconds'
  | 'dir'
> & {
  readonly state: 'running' | 'stopped' | 'finished'
  /** How many agents the crawl has, and what each has done. */
  readonly agents: number
  readonly shares: readonly ShareFigures[]
  /** Links that one agent found and another has not taken yet: they wait, and are in no other figure. */
  readonly onTheirWay: number
  readonly running: boolean
  readonly pid: number | null
  /** Why the last run ended, where it could say so and nothing happened since. */
  readonly stoppedBecause: CrawlSummary['stoppedBecause'] | null
  /** When the first of the hosts left may be asked, where that is why it ended. */
  readonly nextAskAt: string | null
  /** Number of the last batch, 0 before the first, and when it was written; of several agents how many all have written. */
  readonly batch: number
  readonly lastCommitAt: string | null
  /** Hosts that asked for a pause which is not over, and those that are asked slower than configured since they said 429 or 503. */
  readonly manners: { readonly paused: number; readonly learnt: number }
  /** Where the WARC files are. */
  readonly archive: ArchiveFigures
  readonly disk: DiskUse
}

/** One agent of several. */
interface ShareFigures {
  /** Its directory inside of DIR. */
  readonly share: string
  readonly pages: number
  readonly failed: number
  readonly waiting: number
  readonly hosts: number
  readonly batch: number
}

export async function runStatus(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  if (problems.length > 0 || dir === undefined) {
    printProblems('status', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertCrawl(dir)
  const status = await statusOf(dir)
  streams.stdout.write(flags.has('json') ? `${JSON.stringify(status)}\n` : describe(status, systemClock.wallMs()))
  return EXIT.ok.code
}

async function statusOf(dir: string): Promise<Status> {
  const layout = await loadLayout(dir)
  const shares = layout === null ? [dir] : layout.map((share) => join(dir, share))
  const journals = shares.map((share) => join(share, 'state/journal'))
  const holder = await holderOf([dir, ...shares])
  if (layout !== null) await refuseMissingShares(dir, layout)
  // While it runs its last bytes may be half a batch; what lies before was checked when it was opened.
  if (holder === null) for (const share of shares) await refuseDamage(dir, share)
  const lasts: (NumberedBatch | null)[] = []
  for (const journal of journals) lasts.push(await lookAtLastBatch(journal))
  const known = lasts.flatMap((last) => (last === null ? [] : [last.batch.totals as CrawlTotals]))
  const totals = known.length === 0 ? null : sumTotals(known)
  const figures = figuresOf(totals)
  const onTheirWay = await linksOnTheirWay(journals.map((journal, agent) => ({ journal, last: lasts[agent] ?? null })))
  const isDone = totals !== null && figures.waiting === 0 && onTheirWay === 0
  const summary = holder === null ? await loadCrawlSummary(dir) : null
  const isOfNow = summary !== null && summary.pages === figures.pages && summary.waiting === figures.waiting
  return {
    ...figures,
    dir,
    state: holder !== null ? 'running' : isDone ? 'finished' : 'stopped',
    agents: shares.length,
    shares: (layout ?? []).map((share, agent) => shareFigures(share, lasts[agent] ?? null)),
    onTheirWay,
    running: holder !== null,
    pid: holder?.pid ?? null,
    stoppedBecause: isOfNow ? summary.stoppedBecause : null,
    nextAskAt: isOfNow ? summary.nextAskAt : null,
    batch: lasts.reduce((sum, last) => sum + (last?.number ?? 0), 0),
    lastCommitAt: await lastWriteIn(journals.filter((_, index) => lasts[index] != null)),
    manners: await countManners(shares, systemClock.wallMs()),
    archive: await archiveOf(dir, isOfNow ? summary : null),
    disk: await measureDisk(dir, layout ?? []),
  }
}

/** While it runs, what is in the way is told by the crawl itself. */
async function archiveOf(dir: string, summary: CrawlSummary | null): Promise<ArchiveFigures> {
  const { shipped, onlyHere, onlyThere, to } = await archiveStanding(dir)
  const wanted = (await loadSettings(dir).catch(() => null))?.['shelf']?.['to']
  const place = to ?? (typeof wanted === 'string' && wanted !== '' ? wanted : null)
  const { missing = [], trouble = null } = summary?.archive ?? {}
  return { to: place, shipped, onlyHere, onlyThere, missing, trouble }
}

function shareFigures(share: string, last: NumberedBatch | null): ShareFigures {
  const { pages, failed, waiting, hosts } = figuresOf((last?.batch.totals ?? null) as CrawlTotals | null)
  return { share, pages, failed, waiting, hosts, batch: last?.number ?? 0 }
}

/** Who works in one of these directories; all who do are one process. */
async function holderOf(dirs: readonly string[]): ReturnType<typeof whoHolds> {
  for (const dir of new Set(dirs)) {
    const holder = await whoHolds(join(dir, 'state'))
    if (holder !== null) return holder
  }
  return null
}

async function refuseDamage(dir: string, share: string): Promise<void> {
  const { isSound, segments, misnamed } = await inspectJournal(join(share, 'state/journal'))
  if (isSound) return
  const bad = segments.find(({ damage }) => damage !== null)
  const what =
    bad?.damage == null
      ? `${misnamed[0]} is not the name of a segment`
      : `${bad.file} is damaged at byte ${formatCount(bad.damage.at)}: ${bad.damage.what}`
  throw new Fault(
    bad?.damage?.code ?? 'LEDGER_CORRUPT',
    `the journal of ${printable(share)} cannot be used: ${what}; \`portolan repair ${shellWord(dir)}\` says what can be saved`,
  )
}

type Figures = Omit<
  Status,
  | 'dir'
  | 'state'
  | 'agents'
  | 'shares'
  | 'onTheirWay'
  | 'running'
  | 'pid'
  | 'stoppedBecause'
  | 'nextAskAt'
  | 'batch'
  | 'lastCommitAt'
  | 'manners'
  | 'archive'
  | 'disk'
>

function figuresOf(totals: CrawlTotals | null): Figures {
  if (totals === null) {
    const nothing = { pages: 0, failed: 0, bytes: 0, seconds: 0, hosts: 0, urlsSeen: 0, waiting: 0 }
    const answers = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
    return { ...nothing, peakRssBytes: 0, cpuSeconds: 0, skipped: {}, refused: {}, failures: {}, answers }
  }
  const { pages, failed, failures, answers, skipped, refused, bytes, hosts, peakRssBytes } = totals
  const settled = pages + failed + sumOf(skipped)
  return {
    pages,
    failed,
    failures,
    answers,
    skipped,
    refused,
    bytes,
    seconds: Math.round(totals.ms) / 1_000,
    hosts,
    urlsSeen: totals.admitted,
    waiting: totals.admitted - settled,
    peakRssBytes,
    cpuSeconds: Math.round(totals.cpuMs) / 1_000,
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** When the newest file of these journals was written: commits do nothing else to them. */
async function lastWriteIn(journals: readonly string[]): Promise<string | null> {
  let newestMs = 0
  for (const journal of journals) {
    for (const name of await readdir(journal)) {
      if (!name.endsWith('.log')) continue
      // One that was forgotten meanwhile was not the newest.
      const found = await stat(join(journal, name)).catch(() => null)
      newestMs = Math.max(newestMs, found?.mtimeMs ?? 0)
    }
  }
  return newestMs === 0 ? null : new Date(newestMs).toISOString()
}

const NAME_WIDTH = 12

function line(name: string, text: string): string {
  return `${`  ${name}`.padEnd(NAME_WIDTH)}${text}\n`
}

function describe(status: Status, wallMs: number): string {
  const { pages, failed, waiting, hosts, bytes, disk, manners } = status
  const ageMs = status.lastCommitAt === null ? null : Math.max(0, wallMs - Date.parse(status.lastCommitAt))
  const answers = listed(inOrder(status.answers))
  return (
    `${printable(status.dir)}\n` +
    line('state', stateOf(status)) +
    line('pages', `${formatCount(pages)}${answers === '' ? '' : ` (${answers})`}, ${formatBytes(bytes)}`) +
    (failed > 0 ? line('failed', failedOf(status)) : '') +
    (sumOf(status.skipped) > 0 ? line('skipped', listed(largestFirst(status.skipped))) : '') +
    line('waiting', `${formatNumberOf(waiting, 'URL')}${onTheirWayOf(status)}; ${formatNumberOf(hosts, 'host')} met`) +
    (manners.paused + manners.learnt > 0 ? line('manners', mannersOf(manners)) : '') +
    (status.agents > 1 ? line('agents', agentsOf(status)) : '') +
    line(
      'time',
      `${formatSpan(status.seconds * 1_000)} over all runs, ${formatSpan(status.cpuSeconds * 1_000)} of CPU`,
    ) +
    line('memory', `${formatBytes(status.peakRssBytes)} at most`) +
    line(
      'commit',
      ageMs === null
        ? 'none yet'
        : `batch ${formatCount(status.batch)}, ${ageMs < 1_000 ? 'just now' : `${formatSpan(Math.round(ageMs / 1_000) * 1_000)} ago`}`,
    ) +
    (status.archive.to === null ? '' : line('archive', printable(archiveText(status.archive)))) +
    line('disk', diskOf(disk))
  )
}

function mannersOf({ paused, learnt }: Status['manners']): string {
  const said = [
    paused === 0 ? '' : `${formatNumberOf(paused, 'host')} asked for a pause`,
    learnt === 0 ? '' : `${formatNumberOf(learnt, 'host')} taught us to ask slower`,
  ]
  return `${said.filter((one) => one !== '').join(', ')}; \`portolan explain URL\` says more`
}

function stateOf({ state, pid, waiting, onTheirWay, stoppedBecause, nextAskAt, dir }: Status): string {
  const goOn = `\`portolan crawl --dir ${shellWord(dir)}\``
  if (state === 'running') return `running, process ${pid}`
  if (state === 'finished') return 'finished: nothing is left to fetch'
  const why = stoppedBecause === null ? 'stopped' : STOPS[stoppedBecause].replace(/^(?!stopped)/, 'stopped: ')
  if (waiting + onTheirWay === 0) return `begun, and nothing done yet; ${goOn} goes on`
  return `${why}${nextAskAt === null ? '' : `, the first until ${printable(nextAskAt)}`}; ${goOn} goes on`
}

function onTheirWayOf({ onTheirWay }: Status): string {
  return onTheirWay === 0 ? '' : `, ${formatNumberOf(onTheirWay, 'link')} on the way from one agent to another`
}

function agentsOf({ agents, shares }: Status): string {
  return `${agents}, with ${shares.map(({ pages }) => formatCount(pages)).join(' + ')} pages`
}

/** Not while it runs: what is taken back then would be in the way of the crawl, and is refused. */
function failedOf({ failed, failures, state, dir }: Status): string {
  const again = state === 'running' ? '' : `; \`portolan requeue ${shellWord(dir)} --failed\` has them asked again`
  return `${formatCount(failed)} (${listed(largestFirst(failures))})${again}`
}

type Counts = readonly (readonly [name: string, count: number])[]

/** Reasons: the most frequent is what one looks for. */
function largestFirst(counts: Readonly<Record<string, number>>): Counts {
  return Object.entries(counts).toSorted(([, a], [, b]) => b - a)
}

/** Classes of answers, whose order everybody knows, wherever the journal has put them. */
function inOrder(counts: Readonly<Record<string, number>>): Counts {
  return Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/** `2xx 1,204, 4xx 12`: what there is of each. */
function listed(counts: Counts): string {
  return counts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${printable(name)} ${formatCount(count)}`)
    .join(', ')
}

function diskOf(disk: DiskUse): string {
  const { archive, other: _, ...rest } = disk
  const parts = Object.entries(rest).map(([name, { bytes }]) => `${name} ${formatBytes(bytes)}`)
  return [`archive ${formatBytes(archive.bytes)} in ${formatNumberOf(archive.files, 'file')}`, ...parts].join(', ')
}
