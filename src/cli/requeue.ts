// portolan requeue: verdicts taken back, so that the next run asks again.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Crawl } from '../agent/index.ts'
import { FAILURES, SKIPS } from '../base/index.ts'
import { type Problem, unknownName } from '../config/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { hostKeyOf, type CanonicalUrl } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import {
  assertCrawl,
  type CommandStreams,
  oneDirectory,
  planWithoutSeeds,
  shellWord,
  storedConfig,
} from './crawl-directory.ts'

const MANY = { takesValue: true, repeats: true } as const
const FLAGS = new Map([
  ['failed', BARE],
  ['reason', MANY],
  ['skipped', MANY],
  ['host', VALUED],
  ['json', BARE],
])
const ALL = 'all'

export const requeueCommand: Command = {
  name: 'requeue',
  summary: 'Takes back verdicts of a crawl, so that failed or skipped URLs are asked for again.',
  usage: 'requeue DIR --failed [--reason CODE]… [--skipped REASON]… [--host HOST] [--json]',
  examples: [
    { command: 'portolan requeue example.org', what: 'what could be asked for again, by reason' },
    { command: 'portolan requeue example.org --failed', what: 'everything that failed' },
    {
      command: 'portolan requeue example.org --reason FETCH_CONNECT_TIMEOUT --reason FETCH_TIMEOUT',
      what: 'only what failed for these reasons',
    },
    { command: 'portolan requeue example.org --skipped size-filtered', what: 'what was skipped for this reason' },
    { command: 'portolan requeue example.org --failed --host www.example.org', what: 'only URLs of one host' },
  ],
  details: () =>
    'Options\n' +
    '  --failed           URLs that were given up; with --reason only those\n' +
    '  --reason CODE      one reason of failures, may be repeated; says --failed itself\n' +
    '  --skipped REASON   URLs that were skipped for this reason, may be repeated; `all` for every reason\n' +
    '  --host HOST        only URLs of this host\n' +
    '  --json             the counts as one JSON object\n\n' +
    'Nothing is asked for yet: `portolan crawl --dir DIR` goes on with what waits again. Whatever made a URL be\n' +
    'skipped is judged again then: change the option that did it first. Not while a crawl runs in DIR.\n' +
    'docs/errors.md lists all reasons.',
  run: (args) => runRequeue(args),
}

interface Selection {
  readonly isWanted: (record: FailureRecord) => boolean
}

export async function runRequeue(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  const reasons = (flags.get('reason') ?? []) as readonly string[]
  const skips = (flags.get('skipped') ?? []) as readonly string[]
  for (const code of reasons) if (!(code in FAILURES)) problems.push(unknownReason('reason', code, FAILURES))
  for (const reason of skips) {
    if (reason !== ALL && !(reason in SKIPS)) problems.push(unknownReason('skipped', reason, SKIPS))
  }
  if (problems.length > 0 || dir === undefined) {
    printProblems('requeue', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertCrawl(dir)
  if (!flags.has('failed') && reasons.length === 0 && skips.length === 0) {
    streams.stderr.write(await describeChoice(dir))
    return EXIT.usage.code
  }
  const host = value('host')?.toLowerCase()
  const { isWanted } = selectionOf(flags.has('failed'), reasons, skips, host)
  const counts = await requeueIn(dir, isWanted)
  const urls = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (flags.has('json')) streams.stdout.write(`${JSON.stringify({ dir, requeued: urls, reasons: counts })}\n`)
  else streams.stdout.write(describeDone(dir, urls, counts))
  return EXIT.ok.code
}

function unknownReason(flag: string, reason: string, known: Readonly<Record<string, string>>): Problem {
  const other = flag === 'reason' ? SKIPS : FAILURES
  if (reason in other) {
    const right = flag === 'reason' ? `--skipped ${reason}` : `--reason ${reason}`
    return { where: `--${flag}`, what: `${reason} is said as ${right}` }
  }
  return unknownName(`--${flag} ${quote(reason)}`, reason, Object.keys(known))
}

function selectionOf(
  isFailed: boolean,
  reasons: readonly string[],
  skips: readonly string[],
  host: string | undefined,
): Selection {
  const wantedFailures = new Set(reasons)
  const wantedSkips = new Set(skips)
  return {
    isWanted: ({ url, kind, reason }) => {
      if (host !== undefined && hostKeyOf(url as CanonicalUrl) !== host) return false
      if (kind === 'skipped') return wantedSkips.has(reason) || wantedSkips.has(ALL)
      return wantedFailures.has(reason) || (isFailed && wantedFailures.size === 0)
    },
  }
}

/** How many URLs wait again, by reason. */
async function requeueIn(
  dir: string,
  isWanted: (record: FailureRecord) => boolean,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  const job = await Crawl.open(planWithoutSeeds(dir, await storedConfig(dir)))
  try {
    // Opening may have cut lines off that were never committed: counted is what stands.
    for await (const record of readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))) {
      if (isWanted(record)) counts[record.reason] = (counts[record.reason] ?? 0) + 1
    }
    await job.requeue(isWanted)
  } finally {
    await job.close()
  }
  return counts
}

function describeDone(dir: string, urls: number, counts: Readonly<Record<string, number>>): string {
  if (urls === 0) return `Nothing in ${printable(dir)} was given up or skipped for such a reason.\n`
  return (
    `${formatNumberOf(urls, 'URL waits', 'URLs wait')} again in ${printable(dir)}:\n${rowsOf(counts)}` +
    `\`portolan crawl --dir ${shellWord(dir)}\` goes on with them.\n`
  )
}

/** What could be said, from what there is. */
async function describeChoice(dir: string): Promise<string> {
  const path = join(dir, 'failures.jsonl')
  const counts: Record<string, number> = {}
  if (existsSync(path)) {
    for await (const { kind, reason } of readJsonLines<FailureRecord>(path)) {
      const said = `${kind === 'failed' ? '--reason' : '--skipped'} ${reason}`
      counts[said] = (counts[said] ?? 0) + 1
    }
  }
  if (Object.keys(counts).length === 0) {
    return `portolan requeue: nothing in ${printable(dir)} was given up or skipped.\n`
  }
  return (
    `portolan requeue: which URLs of ${printable(dir)}? It has\n${rowsOf(counts)}` +
    'Say one or more of these, --failed for all that failed, or --skipped all.\n'
  )
}

function rowsOf(counts: Readonly<Record<string, number>>): string {
  const rows = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const width = Math.max(...rows.map(([, count]) => formatCount(count).length))
  return rows.map(([reason, count]) => `  ${formatCount(count).padStart(width)}  ${printable(reason)}\n`).join('')
}
