// portolan report: what became of a crawl, made anew from its files.

import { FAILURES, SKIPS } from '../base/index.ts'
import {
  type CrawlReport,
  formatCount,
  loadOutputs,
  printable,
  renderFigures,
  summarise,
  writeReport,
} from '../report/index.ts'
import { type Command, EXIT } from './command.ts'
import { printProblems, readOwnArguments } from './config-flags.ts'

const FLAGS = new Map([
  ['json', { takesValue: false, repeats: false }],
  ['out', { takesValue: true, repeats: false }],
])

/** Where the command writes; the process itself outside tests. */
export interface ReportStreams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number }
}

export const reportCommand: Command = {
  usage: 'report DIR [--out FILE] [--json]',
  examples: [
    { command: 'portolan report example.org', what: 'writes example.org/report.html and prints the summary' },
    { command: 'portolan report example.org --out /tmp/today.html', what: 'writes it elsewhere' },
    { command: 'portolan report example.org --json', what: 'all figures as one JSON object; writes no file' },
  ],
  details: () =>
    'Reads pages.jsonl, failures.jsonl, crawl.json and the link log, and asks no server. Memory stays\n' +
    'bounded whatever the size of the crawl; a million pages take about ten seconds.',
  run: (args) => runReport(args),
}

export async function runReport(args: readonly string[], streams: ReportStreams = process): Promise<number> {
  const { flags, words, problems } = readOwnArguments(args, FLAGS)
  const [dir] = words
  if (dir === undefined) problems.push({ where: 'DIR', what: 'of which crawl? Name its directory' })
  if (words.length > 1) problems.push({ where: `'${words[1]}'`, what: 'one directory at a time' })
  if (flags.has('json') && flags.has('out')) problems.push({ where: '--out', what: 'has no meaning with --json' })
  if (problems.length > 0 || dir === undefined) {
    printProblems('report', problems)
    return EXIT.usage.code
  }
  const { stdout } = streams
  if (flags.has('json')) {
    stdout.write(`${JSON.stringify(await summarise(dir))}\n`)
    return EXIT.ok.code
  }
  const { report, path } = await writeReport(dir, flags.get('out') as string | undefined)
  // Where the page was written is said last, and only once.
  const { files } = await loadOutputs(dir)
  const style = { colour: stdout.isTTY === true, width: stdout.columns ?? 80, hasReport: false, files }
  stdout.write(renderFigures(report, style))
  if (report.hasEnded && report.pages === 0) stdout.write(reasonsOf(report))
  stdout.write(`\n${printable(path)}\n`)
  return EXIT.ok.code
}

/** Why nothing was fetched, by reason; the page has it by URL. */
function reasonsOf({ failures, skips }: CrawlReport): string {
  const words: Readonly<Record<string, string>> = { ...FAILURES, ...SKIPS }
  return [...failures.rows, ...skips.rows]
    .map(
      ({ name, count }) =>
        `  ${printable(name)} ${formatCount(count)}: ${words[name] ?? 'a reason of another version'}\n`,
    )
    .join('')
}
