// portolan requeue: verdicts taken back, so that the next run asks again; pages too, which are visited once more.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Crawl } from '../agent/index.ts'
import { FAILURES, SKIPS } from '../base/index.ts'
import { type Problem, unknownName } from '../config/index.ts'
import { lockDirectory } from '../disk/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../store/index.ts'
import { canonicalise, type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { bringViewUpToDate } from '../view/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import {
  assertOwnCrawl,
  type CommandStreams,
  oneDirectory,
  plansWithoutSeeds,
  shellWord,
  storedConfig,
} from './crawl-directory.ts'
import { describeLost, requeueLostIn } from './requeue-lost.ts'
import { isChosenPage, readPageChoice } from './requeue-pages.ts'

const MANY = { takesValue: true, repeats: true } as const
const FLAGS = new Map([
  ['failed', BARE],
  ['reason', MANY],
  ['skipped', MANY],
  ['pages', BARE],
  ['older-than', VALUED],
  ['status', MANY],
  ['host', VALUED],
  ['lost-archives', BARE],
  ['json', BARE],
])
const ALL = 'all'
/** Pages, among the reasons. */
const PAGES = 'page'

export const requeueCommand: Command = {
  usage:
    'requeue DIR [--failed] [--reason CODE]… [--skipped REASON]… [--pages [--older-than AGE] [--status STATUS]…] [--host HOST] [--lost-archives] [--json]',
  examples: [
    { command: 'portolan requeue example.org', what: 'what could be asked for again, by reason' },
    { command: 'portolan requeue example.org --failed', what: 'everything that failed' },
    {
      command: 'portolan requeue example.org --reason FETCH_CONNECT_TIMEOUT --reason FETCH_TIMEOUT',
      what: 'only what failed for these reasons',
    },
    { command: 'portolan requeue example.org --skipped size-filtered', what: 'what was skipped for this reason' },
    {
      command: 'portolan requeue example.org --pages --older-than 7d',
      what: 'pages that were had a week ago or before',
    },
    { command: 'portolan requeue example.org --failed --host www.example.org', what: 'only URLs of one host' },
    { command: 'portolan requeue example.org --lost-archives', what: 'pages whose WARC file is lost' },
  ],
  details: () =>
    'Options\n' +
    '  --failed           URLs that were given up; with --reason only those\n' +
    '  --reason CODE      one reason of failures, may be repeated; says --failed itself\n' +
    '  --skipped REASON   URLs that were skipped for this reason, may be repeated; `all` for every reason\n' +
    '  --pages            pages: they are visited again, and fetched where they have changed (--conditional)\n' +
    '  --older-than AGE   only pages that were fetched so long ago, like 12h or 7d\n' +
    '  --status STATUS    only pages with this status, like 404, or 5xx for a class; may be repeated\n' +
    '  --host HOST        only URLs of this host; a URL of it will do\n' +
    '  --lost-archives    pages whose WARC file is neither here nor shipped, and those kept as copies of such: fetched\n' +
    '                     anew and whole. To be said alone\n' +
    '  --json             the counts as one JSON object\n\n' +
    'Without --failed, --reason, --skipped and --pages it lists what could be said, and changes nothing.\n' +
    'Nothing is asked for yet: `portolan crawl --dir DIR` goes on with what waits again. Whatever made a URL be\n' +
    'skipped is judged again then: change the option that did it first. Not while a crawl runs in DIR.\n' +
    'A page that waits again counts as waiting; its line in pages.jsonl stays, and the next visit adds another.\n' +
    'docs/errors.md lists all reasons.',
  run: (args) => runRequeue(args),
}

type Choose = (record: FailureRecord) => boolean
type Counts = Readonly<Record<string, number>>

export async function runRequeue(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  const reasons = (flags.get('reason') ?? []) as readonly string[]
  const skips = (flags.get('skipped') ?? []) as readonly string[]
  for (const code of reasons) if (!(code in FAILURES)) problems.push(unknownReason('reason', code, FAILURES))
  for (const reason of skips) {
    if (reason !== ALL && !(reason in SKIPS)) problems.push(unknownReason('skipped', reason, SKIPS))
  }
  const statuses = (flags.get('status') ?? []) as readonly string[]
  const pages = readPageChoice(flags.has('pages'), value('older-than'), statuses, Date.now(), problems)
  const said = value('host')
  const host = said === undefined ? null : hostIn(said)
  if (said !== undefined && host === null) problems.push({ where: '--host', what: `${quote(said)} is not a host` })
  const others = [...flags.keys()].filter((flag) => flag !== 'lost-archives' && flag !== 'json')
  if (flags.has('lost-archives') && others.length > 0) {
    problems.push({ where: '--lost-archives', what: `is said alone, not with --${others[0]}` })
  }
  if (problems.length > 0 || dir === undefined) {
    printProblems('requeue', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertOwnCrawl(dir)
  if (flags.has('lost-archives')) {
    const lost = await requeueLostIn(dir)
    const { files, pages: requeued } = lost
    const json = { dir, requeued, reasons: requeued === 0 ? {} : { [PAGES]: requeued }, lostFiles: files }
    streams.stdout.write(flags.has('json') ? `${JSON.stringify(json)}\n` : describeLost(dir, lost))
    return EXIT.ok.code
  }
  if (!flags.has('failed') && reasons.length === 0 && skips.length === 0 && pages === null) {
    const choice = await choiceIn(dir, host)
    streams.stdout.write(
      flags.has('json') ? `${JSON.stringify({ dir, ...choice })}\n` : describeChoice(dir, host, choice),
    )
    return EXIT.ok.code
  }
  const { counts, isHostMet } = await requeueIn(
    dir,
    host,
    selectionOf(flags.has('failed'), reasons, skips),
    pages === null ? null : (page) => isChosenPage(pages, host, page),
  )
  const urls = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (flags.has('json')) streams.stdout.write(`${JSON.stringify({ dir, requeued: urls, reasons: counts })}\n`)
  else if (!isHostMet && pages === null)
    streams.stdout.write(`Nothing ${placeOf(dir, host)} was given up or skipped.\n`)
  else if (urls === 0 && pages !== null) streams.stdout.write(`Nothing ${placeOf(dir, host)} is such a page.\n`)
  else streams.stdout.write(describeDone(dir, host, urls, counts))
  return EXIT.ok.code
}

/** The host of what people have at hand: its name, with a port, or a URL of it. Null when it is none of these. */
export function hostIn(text: string): string | null {
  const isBareIpv6 = /^[\da-f]*:[\da-f.]*:[\da-f:.]*$/i.test(text)
  const url = canonicalise(text.includes('://') ? text : `http://${isBareIpv6 ? `[${text}]` : text}`)
  return typeof url === 'string' && hostKeyOf(url) !== '' ? hostKeyOf(url) : null
}

function isOf(host: string | null, { url }: FailureRecord): boolean {
  return host === null || hostKeyOf(url as CanonicalUrl) === host
}

function placeOf(dir: string, host: string | null): string {
  return host === null ? `in ${printable(dir)}` : `of host ${printable(host)} in ${printable(dir)}`
}

function unknownReason(flag: string, reason: string, known: Readonly<Record<string, string>>): Problem {
  const other = flag === 'reason' ? SKIPS : FAILURES
  if (reason in other) {
    const right = flag === 'reason' ? `--skipped ${reason}` : `--reason ${reason}`
    return { where: `--${flag}`, what: `${reason} is said as ${right}` }
  }
  return unknownName(`--${flag} ${quote(reason)}`, reason, Object.keys(known))
}

function selectionOf(isFailed: boolean, reasons: readonly string[], skips: readonly string[]): Choose {
  const wantedFailures = new Set(reasons)
  const wantedSkips = new Set(skips)
  return ({ kind, reason }) => {
    if (kind === 'skipped') return wantedSkips.has(reason) || wantedSkips.has(ALL)
    return wantedFailures.has(reason) || (isFailed && wantedFailures.size === 0)
  }
}

/** How many URLs wait again, by reason, and whether anything at all stood there of the host. */
async function requeueIn(
  dir: string,
  host: string | null,
  isChosen: Choose,
  wantsPage: ((page: PageRecord) => boolean) | null,
): Promise<{ readonly counts: Counts; readonly isHostMet: boolean }> {
  let isHostMet = false
  const counts: Record<string, number> = {}
  const settings = await storedConfig(dir)
  const lock = await lockDirectory(join(dir, 'state'))
  try {
    // Agents have hosts, and with them what became of their URLs: one after the other.
    for (const plan of await plansWithoutSeeds(dir, settings)) {
      const job = await Crawl.open(plan)
      try {
        // Opening may have cut lines off that were never committed: counted is what stands.
        for await (const record of readJsonLines<FailureRecord>(join(plan.dir, 'failures.jsonl'))) {
          if (!isOf(host, record)) continue
          isHostMet = true
          if (isChosen(record)) counts[record.reason] = (counts[record.reason] ?? 0) + 1
        }
        await job.requeue((record) => isOf(host, record) && isChosen(record))
        const pages = wantsPage === null ? 0 : await job.requeuePages(wantsPage)
        if (pages > 0) counts[PAGES] = (counts[PAGES] ?? 0) + pages
      } finally {
        await job.close()
      }
    }
    await bringViewUpToDate(dir)
  } finally {
    await lock.release()
  }
  return { counts, isHostMet }
}

function describeDone(dir: string, host: string | null, urls: number, counts: Counts): string {
  if (urls === 0) return `Nothing ${placeOf(dir, host)} was given up or skipped for such a reason.\n`
  return (
    `${formatNumberOf(urls, 'URL waits', 'URLs wait')} again in ${printable(dir)}:\n${rowsOf(counts)}` +
    `\`portolan crawl --dir ${shellWord(dir)}\` goes on with them.\n`
  )
}

/** What there is to choose from, by the names of the crawl's own --json object. */
interface Choice {
  readonly failures: Counts
  readonly skipped: Counts
}

async function choiceIn(dir: string, host: string | null): Promise<Choice> {
  const path = join(dir, 'failures.jsonl')
  const failures: Record<string, number> = {}
  const skipped: Record<string, number> = {}
  if (existsSync(path)) {
    for await (const record of readJsonLines<FailureRecord>(path)) {
      if (!isOf(host, record)) continue
      const counts = record.kind === 'failed' ? failures : skipped
      counts[record.reason] = (counts[record.reason] ?? 0) + 1
    }
  }
  return { failures, skipped }
}

function describeChoice(dir: string, host: string | null, { failures, skipped }: Choice): string {
  const said = (flag: string, counts: Counts) =>
    Object.entries(counts).map(([reason, count]) => [`${flag} ${reason}`, count] as const)
  const counts = Object.fromEntries([...said('--reason', failures), ...said('--skipped', skipped)])
  if (Object.keys(counts).length === 0) return `Nothing ${placeOf(dir, host)} was given up or skipped.\n`
  return (
    `These URLs ${placeOf(dir, host)} could be asked for again:\n${rowsOf(counts)}` +
    'Say one or more of these, --failed for all that failed, or --skipped all; or --pages for what was had.\n'
  )
}

function rowsOf(counts: Counts): string {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const width = Math.max(...rows.map(([, count]) => formatCount(count).length))
  return rows.map(([reason, count]) => `  ${formatCount(count).padStart(width)}  ${printable(reason)}\n`).join('')
}
