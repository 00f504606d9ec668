// portolan checkpoint: a consistent copy of a crawl, while it runs or not.

import { join, resolve } from 'node:path'
import { type CheckpointFigures, copyStoppedCrawl } from '../agent/index.ts'
import { formatBytes, formatDuration, systemClock } from '../base/index.ts'
import { whoHolds } from '../disk/index.ts'
import { formatNumberOf, printable } from '../report/index.ts'
import { askForCheckpoint } from './checkpoint-requests.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, readOwnArguments, VALUED } from './config-flags.ts'
import { assertOwnCrawl, type CommandStreams, oneDirectory, shellWord } from './crawl-directory.ts'

const FLAGS = new Map([
  ['to', VALUED],
  ['json', BARE],
])

export const checkpointCommand: Command = {
  usage: 'checkpoint DIR [--to PATH] [--json]',
  examples: [
    {
      command: 'portolan checkpoint example.org',
      what: 'into example.org/checkpoints/2026-11-16T05-20-00Z, sharing what never changes',
    },
    { command: 'portolan checkpoint example.org --to /backup/example.org', what: 'to another disk: a whole copy' },
    { command: 'portolan crawl --dir /backup/example.org', what: 'goes on from the copy, the original untouched' },
  ],
  details: () =>
    'A crawl that runs is asked to make the copy itself: it holds its commits while links are made, and\n' +
    'copies what grows beside its work. Finished archives and what is sorted on disk are hard links where the\n' +
    'file system allows it, and cost no room until the original has gone on without them.\n' +
    'report.html and the sorted index are left out: the next run makes them.',
  run: (args) => runCheckpoint(args),
}

export async function runCheckpoint(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  const given = value('to')
  if (given === '') problems.push({ where: '--to', what: 'needs a name' })
  if (problems.length > 0 || dir === undefined) {
    printProblems('checkpoint', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertOwnCrawl(dir)
  // The process that copies may have another working directory.
  const to = resolve(given ?? join(dir, 'checkpoints', stampOf(systemClock.wallMs())))
  const figures = await copy(dir, to, (text) => void streams.stderr.write(text))
  const shown = given ?? join(dir, 'checkpoints', to.slice(to.lastIndexOf('/') + 1))
  streams.stdout.write(flags.has('json') ? `${JSON.stringify({ dir, ...figures })}\n` : describe(shown, figures))
  return EXIT.ok.code
}

async function copy(dir: string, to: string, say: (text: string) => void): Promise<CheckpointFigures> {
  const holder = await whoHolds(join(dir, 'state'))
  if (holder !== null) {
    say(`Process ${holder.pid} crawls in ${printable(dir)}: asking it for a copy.\n`)
    const figures = await askForCheckpoint(dir, to)
    if (figures !== null) return figures
    say('It ended before it began to copy: copying what it left.\n')
  }
  return await copyStoppedCrawl(dir, to, { nowMs: () => systemClock.nowMs() })
}

/** 2026-11-16T05-20-00Z: a time that is a file name everywhere, and sorts. */
function stampOf(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19).replaceAll(':', '-')}Z`
}

function describe(to: string, { linkedFiles, copiedFiles, copiedBytes, heldMs }: CheckpointFigures): string {
  return (
    `${printable(to)}\n` +
    `  ${formatNumberOf(linkedFiles, 'file')} linked, ${formatNumberOf(copiedFiles, 'file')} copied (${formatBytes(copiedBytes)}); ` +
    `commits were held for ${formatDuration(Math.ceil(heldMs))}\n` +
    `\`portolan crawl --dir ${shellWord(to)}\` goes on from it.\n`
  )
}
