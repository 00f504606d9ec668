// portolan status: how a crawl stands, whether it runs or not (report/crawl-standing.ts), and how much room it takes.

import { formatBytes, STOPS, systemClock } from '../base/index.ts'
import { archiveStanding } from '../store/index.ts'
import {
  type ArchiveFigures,
  archiveText,
  countManners,
  type CrawlStanding,
  crawlStanding,
  type CrawlSummary,
  formatCount,
  formatNumberOf,
  formatSpan,
  printable,
  type StandingFigures,
} from '../report/index.ts'
import {
  ControlError,
  controlSocketOf,
  crawlIdOf,
  type CrawlInfo,
  createClient,
  loadNextRun,
  type Transport,
} from '../control/index.ts'
import { loadNodeMark, sharesOf } from '../view/index.ts'
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
type Status = StandingFigures &
  Omit<CrawlStanding, 'figures' | 'summary' | 'layout' | 'state'> &
  Pick<CrawlInfo, 'name' | 'state' | 'startedAt' | 'now' | 'cluster'> & {
    readonly dir: string
    readonly running: boolean
    /** Hosts that asked for a pause which is not over, and those that are asked slower than configured since they said 429 or 503. */
    readonly manners: { readonly paused: number; readonly learnt: number }
    /** Where the WARC files are. */
    readonly archive: ArchiveFigures
    readonly disk: DiskUse
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
  const { figures, summary, layout, ...standing } = await crawlStanding(dir)
  const shares = await sharesOf(dir)
  return {
    ...figures,
    dir,
    ...standing,
    ...(await asTheApiSays(dir, standing, summary?.startedAt ?? null)),
    running: standing.state === 'running',
    manners: await countManners(shares, systemClock.wallMs()),
    archive: await archiveOf(dir, summary),
    disk: await measureDisk(dir, layout),
  }
}

/** What a process that runs it says of this moment, under the names of the API; of a crawl at rest what its files say. */
async function asTheApiSays(
  dir: string,
  { state, pid }: Pick<CrawlStanding, 'state' | 'pid'>,
  startedAt: string | null,
): Promise<Pick<CrawlInfo, 'name' | 'state' | 'startedAt' | 'now' | 'limits' | 'cluster'>> {
  const mark = await loadNodeMark(dir)
  const cluster = mark === null ? null : { crawl: mark.crawl, nodes: 0 }
  const limits = mark === null ? await (await loadNextRun()).limitsAtRest(dir) : {}
  const atRest = { name: mark?.crawl ?? crawlIdOf(dir), state, startedAt, now: null, ...limits, cluster }
  const transport = pid === null ? null : await controlSocketOf(dir, pid)
  if (transport === null) return atRest
  try {
    const client = createClient(patient(transport))
    const { crawls } = await client.call('crawls', {})
    // A process of a cluster knows the whole too; this is about what is here.
    const found = crawls.find(({ id }) => id === crawlIdOf(dir)) ?? crawls[0]
    if (found === undefined) return atRest
    const { name, state: word, startedAt: since, now, cluster: whole } = found
    const own = found.limits === undefined ? {} : { limits: found.limits }
    return { name, state: word, startedAt: since, now, ...own, cluster: whole }
  } catch (fault) {
    // It ends this moment, or is too busy to answer: its files tell.
    if (fault instanceof ControlError) return atRest
    throw fault
  }
}

/** Somebody waits at a terminal. */
const PATIENCE_MS = 3_000

function patient(transport: Transport): Transport {
  return async (request) => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    try {
      return await transport({ ...request, signal })
    } catch (cause) {
      if (signal.aborted) throw new ControlError(0, 'UNREACHABLE', 'the process does not answer', [], cause)
      throw cause
    }
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

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
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
  if (pid !== null) return `${state}, process ${pid}`
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
function failedOf({ failed, failures, pid, dir }: Status): string {
  const again = pid !== null ? '' : `; \`portolan requeue ${shellWord(dir)} --failed\` has them asked again`
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
