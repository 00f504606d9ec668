// portolan repair: what of a damaged crawl can be saved, and the saving.

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { type CrawlInspection, type CrawlRepair, inspectDirectory, repairCrawl } from '../agent/index.ts'
import { Random, systemClock } from '../base/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, readOwnArguments } from './config-flags.ts'
import { assertOwnCrawl, type CommandStreams, oneDirectory, shellWord, storedConfig } from './crawl-directory.ts'

const FLAGS = new Map([
  ['apply', BARE],
  ['json', BARE],
])

export const repairCommand: Command = {
  usage: 'repair DIR [--apply] [--json]',
  examples: [
    {
      command: 'portolan repair example.org',
      what: 'what is whole, what is damaged, what would be lost; changes nothing',
    },
    { command: 'portolan repair example.org --apply', what: 'does it; what is cut off or replaced is moved aside' },
    { command: 'portolan crawl --dir example.org', what: 'goes on' },
  ],
  details: () =>
    'A crash or a power cut damages nothing: the next run goes on by itself. This is for disks that fail, files that\n' +
    'were changed or lost, and copies that are not of one moment. Journal, frontier, seen set, contents and all lines of\n' +
    'JSON are read, so it takes its time; of the archive, its index and the link log only the length is looked at.\n' +
    'With --apply the journal is cut back to its last good batch, and a damaged seen set, set of contents or frontier is made\n' +
    'anew from the others. Nothing is deleted: see state/damaged-<time>/ in DIR. A page may be fetched twice,\n' +
    'a URL that anything remembers is not lost. pages.jsonl, failures.jsonl and the archive cannot be made anew: go\n' +
    'on from a checkpoint. Of several agents the share of each is looked at, and one that is gone is said. Exits with 1 where something is damaged that was not repaired.',
  run: (args) => runRepair(args),
}

export async function runRepair(args: readonly string[], streams: CommandStreams = process): Promise<number> {
  const { flags, words, problems } = readOwnArguments(args, FLAGS)
  const dir = oneDirectory(words, problems)
  if (problems.length > 0 || dir === undefined) {
    printProblems('repair', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertOwnCrawl(dir)
  const result = flags.has('apply') ? await applied(dir) : await looked(dir)
  const { isSound, obstacles } = result.inspection
  const isRepaired = result.movedTo !== null
  if (flags.has('json')) {
    const { parts } = result.inspection
    const { movedTo, waiting, again, lost } = result
    const told = { dir, sound: isSound, repaired: isRepaired, parts, obstacles, movedTo, waiting, again, lost }
    streams.stdout.write(`${JSON.stringify(told)}\n`)
  } else streams.stdout.write(describe(dir, result, await checkpointsOf(dir)))
  return isSound || isRepaired ? EXIT.ok.code : EXIT.failed.code
}

async function looked(dir: string): Promise<CrawlRepair> {
  return {
    inspection: await inspectDirectory({ dir, clock: systemClock }),
    movedTo: null,
    waiting: 0,
    again: 0,
    lost: 0,
  }
}

async function applied(dir: string): Promise<CrawlRepair> {
  return await repairCrawl({
    dir,
    settings: await storedConfig(dir),
    clock: systemClock,
    random: new Random(randomBytes(4).readInt32LE()),
  })
}

function describe(
  dir: string,
  { inspection, movedTo, waiting, again, lost }: CrawlRepair,
  checkpoints: readonly string[],
): string {
  const { isSound, obstacles } = inspection
  const table = `${printable(dir)}\n${tableOf(inspection)}`
  if (isSound) return `${table}Everything is whole.\n`
  if (obstacles.length > 0) {
    return (
      `${table}This cannot be repaired:\n${obstacles.map((one) => `  ${printable(one)}\n`).join('')}` +
      `Nothing was changed. ${wayOut(dir, checkpoints)}`
    )
  }
  if (movedTo === null) {
    return `${table}Nothing was changed. \`portolan repair ${shellWord(dir)} --apply\` does what stands behind the arrows.\n`
  }
  return (
    `${table}Done. What was cut off or replaced is in ${printable(relative(dir, movedTo))}.\n` +
    formatNumberOf(waiting, 'URL waits', 'URLs wait') +
    (again > 0 ? `, ${formatCount(again)} of them because their verdict was cut off` : '') +
    (lost > 0
      ? `; ${formatNumberOf(lost, 'URL that waited is', 'URLs that waited are')} lost, and new to whoever links to them`
      : '') +
    `. \`portolan crawl --dir ${shellWord(dir)}\` goes on.\n`
  )
}

/** What to do about a crawl that cannot be repaired. */
function wayOut(dir: string, checkpoints: readonly string[]): string {
  if (checkpoints.length === 0) {
    return 'It has no checkpoints: a copy made by `portolan checkpoint`, or a backup of the whole directory, is needed to go on.\n'
  }
  const commands = checkpoints.map((name) => `  portolan crawl --dir ${shellWord(join(dir, 'checkpoints', name))}\n`)
  return `To go on from a checkpoint, the newest first:\n${commands.join('')}`
}

/** Newest first, as far as their names tell; one that was not finished is none. */
async function checkpointsOf(dir: string): Promise<string[]> {
  const names = await readdir(join(dir, 'checkpoints')).catch(() => [])
  return names
    .filter((name) => !name.endsWith('.partial') && !name.startsWith('.'))
    .toSorted()
    .toReversed()
}

/** Share by share, where there are several. */
function tableOf({ parts }: CrawlInspection): string {
  const width = Math.max(...parts.map(({ part }) => part.length)) + 2
  let of: string | null = null
  return parts
    .map(({ share, part, state, what, remedy }) => {
      const title = share === of ? '' : share === null ? ' of all agents\n' : ` ${printable(share)}\n`
      of = share
      const first = `${title}  ${part.padEnd(width)}${state === 'whole' ? 'whole  ' : 'DAMAGED'}  ${printable(what)}\n`
      return remedy === '' ? first : `${first}  ${' '.repeat(width + 9)}→ ${printable(remedy)}\n`
    })
    .join('')
}
