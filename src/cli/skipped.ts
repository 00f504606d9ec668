// portolan skipped: which URLs were not asked for or not kept, and why.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FAILURES, SKIPS } from '../base/index.ts'
import { type Problem, unknownName } from '../config/index.ts'
import { printable } from '../report/index.ts'
import { type FailureRecord, readJsonLines } from '../store/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import { assertCrawl, type CommandStreams, oneDirectory } from './crawl-directory.ts'
import { hostIn } from './requeue.ts'

const FLAGS = new Map([
  ['reason', { takesValue: true, repeats: true }],
  ['host', VALUED],
  ['limit', VALUED],
  ['json', BARE],
])

export const skippedCommand: Command = {
  usage: 'skipped DIR [--reason REASON]… [--host HOST] [--limit N] [--json]',
  examples: [
    { command: 'portolan skipped example.org', what: 'reason, URL and detail of each, one per line' },
    { command: 'portolan skipped example.org --reason calendar --reason path-loop', what: 'only these reasons' },
    { command: 'portolan skipped example.org --host www.example.org --limit 20', what: 'twenty of one host' },
    { command: 'portolan skipped example.org --json', what: 'the lines of failures.jsonl' },
  ],
  details: () =>
    'Fields are parted by tabs. Reads failures.jsonl, which has those of all agents, and asks no server. docs/errors.md lists all\n' +
    'reasons. `portolan requeue DIR --skipped REASON` has them asked for after all: change the option that skipped them first,\n' +
    'like `--traps off`.',
  run: (args) => runSkipped(args),
}

export async function runSkipped(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  const reasons = (flags.get('reason') ?? []) as readonly string[]
  for (const reason of reasons) if (!(reason in SKIPS)) problems.push(unknownSkip(reason))
  const said = value('host')
  const host = said === undefined ? null : hostIn(said)
  if (said !== undefined && host === null) problems.push({ where: '--host', what: `${quote(said)} is not a host` })
  const limitText = value('limit')
  const limit = limitText === undefined ? Number.POSITIVE_INFINITY : Number(limitText)
  if (limitText !== undefined && !(Number.isInteger(limit) && limit > 0)) {
    problems.push({ where: '--limit', what: `${quote(limitText)} is not a whole number above 0` })
  }
  if (problems.length > 0 || dir === undefined) {
    printProblems('skipped', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertCrawl(dir)
  const isWanted = ({ kind, reason, url }: FailureRecord): boolean =>
    kind === 'skipped' &&
    (reasons.length === 0 || reasons.includes(reason)) &&
    (host === null || hostKeyOf(url as CanonicalUrl) === host)
  let listed = 0
  const path = join(dir, 'failures.jsonl')
  if (existsSync(path)) {
    for await (const record of readJsonLines<FailureRecord>(path)) {
      if (!isWanted(record)) continue
      if (listed === limit) break
      listed++
      streams.stdout.write(`${flags.has('json') ? JSON.stringify(record) : lineOf(record)}\n`)
    }
  }
  if (listed === 0 && !flags.has('json')) streams.stdout.write(`Nothing like that in ${printable(dir)} was skipped.\n`)
  return EXIT.ok.code
}

function unknownSkip(reason: string): Problem {
  const where = `--reason ${quote(reason)}`
  if (reason in FAILURES)
    return { where, what: 'is of failures, which stand in failures.jsonl; nothing is skipped for it' }
  const problem = unknownName(where, reason, Object.keys(SKIPS))
  if (problem.what !== 'unknown') return problem
  return { where, what: `unknown; reasons are ${Object.keys(SKIPS).join(', ')}` }
}

function lineOf({ reason, url, detail }: FailureRecord): string {
  return [reason, url, detail].map(printable).join('\t')
}
